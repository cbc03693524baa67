"""What has to run on the node itself, asked by hand: by a Job there, and by nobody where no image was named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.builders import a_node
from tests.core.fencing.configuring import Bench, one_method
from tests.drivers.fence.scripted import asked, hand, install
from tests.drivers.kube import scripted
from tests.drivers.kube.scripted import Api, Handler, a_status, answer, event, stream
from tests.manager.test_jobruns import a_pod
from tests.wire.agents import AGENTS

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.manager.asking import Asking
from noderemedy.manager.drill import Row, drill_all
from noderemedy.manager.plan import Look
from noderemedy.model.run import Power, Result, RunState
from noderemedy.model.time import Wall
from noderemedy.wire.fenceanswer import result_text

NOW = Wall(1_900_000_000_000)


def told(state: RunState = RunState.DONE, power: Power = Power.ON, said: str = "") -> Handler:
    """The watch of a pod that ends with this word."""
    code = 0 if state is RunState.DONE else 1
    return stream(event("ADDED", a_pod(exitCode=code, message=result_text(Result(state, power, said)))))


class Cluster:
    """Nodes with a plug each and a disk between them, and the Jobs that were created there."""

    def __init__(self, *names: str, ready: str = "True") -> None:
        bench = Bench(0, {**AGENTS, "fence_scripted": replace(AGENTS["fence_pdu"], name="fence_scripted")})
        for name in names:
            bench.node(name, a_node(f"uid-{name}", provider_id="", ready=ready))
            disk = f"agent=fence_disk\nplug={name}\ndevices=/dev/sdb\ncovers=driver/san"
            words = f"node_name={name}\nisolation=disk\npower_management=m\nrecovery=disk"
            plug = one_method(f"agent=fence_scripted\nip=10.0.0.9\nusername=admin\nplug={name[1:]}", words)
            bench.write(f"fence-config-{name}", {**plug, "fence-method-disk": disk})
        bench.look()
        self.look = Look(NOW)
        self.look.engine = bench.engine
        self.jobs: list[dict[str, Any]] = []

    def drill(self, folder: Path, image: str, created: Handler, watched: Handler) -> list[Row]:
        install(folder, "well")
        found: list[Row] = []

        async def handle(request: web.Request) -> web.StreamResponse:
            if request.method != "POST":
                return await watched(request)
            self.jobs.append(json.loads(await request.text()))
            return await created(request)

        async def story() -> None:
            async with Api(handle).running() as api, KubeClient(api.access()) as client:
                found.extend(await drill_all(self.look, None, Asking(client, hand(folder), NOW, image)))

        scripted.run(story())
        nodes = {row.node for row in found}
        assert ["status"] * len(nodes) == asked(folder), "the plug is asked from here, and nothing else is"
        return [row for row in found if row.method == "disk"]


def test_a_job_asks_on_the_node_itself(tmp_path: Path) -> None:
    """One for each node, bound to it, from the image that was named; it asks for the status, and its word is judged."""
    cluster = Cluster("n1", "n2")
    rows = cluster.drill(tmp_path, "registry/remedy:1", answer({}, 201), told())

    assert [("n1", "Answered", Power.ON), ("n2", "Answered", Power.ON)] == [
        (row.node, row.result, row.power) for row in rows
    ]
    for name, job in zip(("n1", "n2"), cluster.jobs, strict=True):
        spec = job["spec"]["template"]["spec"]
        term = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}] == term
        (container,) = spec["containers"]
        (order,) = [json.loads(one["value"]) for one in container["env"] if one["name"] == "NODE_REMEDY_ORDER"]
        assert ("registry/remedy:1", "status", name) == (container["image"], order["deed"], order["node"])
        assert order["not_after"]["ms"] < NOW.ms, "its time begins when it is created, not when the command was typed"


@pytest.mark.parametrize(
    ("created", "watched", "word", "words"),
    [
        (answer({}, 201), told(power=Power.OFF), "StillIsolated", "still cut off"),
        (answer({}, 201), told(RunState.FAILED, said="no such disk"), "DeviceFailed", "no such disk"),
        (a_status(403), told(), "DeviceFailed", "the API server answered 403"),
        (a_status(500), told(), "DeviceFailed", "the API server answered 500"),
    ],
)
def test_what_the_job_finds_is_judged(
    created: Handler, watched: Handler, word: str, words: str, tmp_path: Path
) -> None:
    """A node that reports without its key on the disk is cut off; what nobody could ask is called failed, with why."""
    (row,) = Cluster("n1").drill(tmp_path, "remedy", created, watched)

    assert word == row.result, row.finding.problem
    assert row.finding.problem.startswith("node n1, method disk: ")
    assert words in row.finding.problem


@pytest.mark.parametrize(
    ("image", "ready", "words"), [("", "True", "with --remedy-image"), ("remedy", "Unknown", "does not report")]
)
def test_what_is_not_asked_says_why(image: str, ready: str, words: str, tmp_path: Path) -> None:
    """No pod is started that nobody asked for, nor on a node that would not run it."""
    cluster = Cluster("n1", ready=ready)
    (row,) = cluster.drill(tmp_path, image, answer({}, 201), told())

    assert (("NotAsked", True), []) == ((row.result, row.is_well), cluster.jobs)
    assert words in row.note
