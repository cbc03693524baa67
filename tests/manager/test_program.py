"""The manager over real HTTP against the simulated API: the whole flow, and what it does when things go wrong."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, a_host_tree, a_machine_tree, a_node_tree
from tests.manager.bench import NOT_HERE, SYSTEM, TOKENS, Bench, Managed, Operator, bench, until

from noderemedy import crds
from noderemedy.engine.loop import Engine, Output
from noderemedy.lab.http_faults import Drop, Fault, failure
from noderemedy.manager.program import PortTaken
from noderemedy.manager.settings import Ended, Listening
from noderemedy.model.actions import Confirm
from noderemedy.model.ids import EVENT, HOST, MACHINE, NODE
from noderemedy.model.outcome import Effect, Unknown
from noderemedy.model.time import Now
from noderemedy.wire import names
from noderemedy.wire.http import Request
from noderemedy.wire.kdump import MESSAGES

BEGUN = ["WriteLedger", "ClaimRepair", "AddRebootAnnotation"]  # what is reserved and claimed comes before what is done
FLOW = [
    *BEGUN,
    "BackUpNode",
    "DeleteNode",
    "RemoveRemediationAnnotation",
    "RemoveRebootAnnotation",
    "RestoreNode",
    "DropBackup",
]


def steps(done: list[str]) -> list[str]:
    """Without what is noted of a node that is still heard when its host is off: who is faster differs."""
    return [one for one in done if one != "RecordSight"]


def within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, seconds))


def said(caplog: pytest.LogCaptureFixture, message: str) -> list[dict[str, Any]]:
    """The facts of every log line with this message."""
    return [vars(record)["facts"] for record in caplog.records if record.getMessage() == message]


async def asked(manager: Managed, path: str) -> tuple[int, str]:
    """What the manager's own endpoint answers."""
    await until(lambda: any(isinstance(one, Listening) for one in manager.happenings))
    [port] = [one.port for one in manager.happenings if isinstance(one, Listening)]
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}{path}") as reply:
        return reply.status, await reply.text()


# --- the flow --------------------------------------------------------------------------------------------


def test_whole_flow(tmp_path: Path) -> None:
    """A marked machine's host is held off, its node freed, powered on and given back what it carried."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            power: list[bool] = []
            it.before = lambda request: watch_power(request, power, it)
            Operator(it.api)
            manager = it.start(metrics_port=0)
            await until(manager.is_leading)
            it.mark()
            await until(lambda: "DropBackup" in manager.done(), what="the flow")

            assert FLOW == steps(manager.done())
            assert [False] == power, "the node was deleted while its host was off"
            node = it.node()
            assert node is not None
            assert ("a", "x") == (
                node["metadata"]["labels"]["rack"],
                node["metadata"]["annotations"]["owner"],
            )
            assert "dedicated" in [taint["key"] for taint in node["spec"]["taints"]]
            assert {} == {key: 1 for key in it.notes("host") if "metal3.io" in key}
            assert {names.MACHINE_HOST} == set(it.notes("machine"))
            await until(lambda: {"ProvenOff", "NodeWhole"} <= {e["reason"] for e in it.api.list(EVENT)})
            status, text = await asked(manager, "/metrics")
            assert 200 == status
            assert 'node_remedy_effects_total{action="DeleteNode",outcome="Done"} 1.0' in text
            assert "node_remedy_leader 1.0" in text
            await manager.end()

    within(30, story())


def watch_power(request: Request, power: list[bool], it: Bench) -> Fault | None:
    if request.method == "DELETE" and "/nodes/" in request.path:
        power.append(it.api.get(HOST, HOST_AT.name, HOST_AT.namespace)["status"]["poweredOn"])
    return None


def test_lost_answers_repeat_nothing(tmp_path: Path) -> None:
    """The first four writes are applied and their answers lost: the manager looks, and the end is the same."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            Operator(it.api)
            lost: set[str] = set()

            def lose_first(request: Request) -> Fault | None:
                what = f"{request.method} {request.path} {request.body.decode()[-60:]}"
                is_ours = request.method in ("PATCH", "DELETE") and "leases" not in request.path
                if not is_ours or what in lost or len(lost) == 4:
                    return None
                lost.add(what)
                return Drop()

            it.after = lose_first
            manager = it.start()
            await until(manager.is_leading)
            it.mark()
            await until(lambda: lost and it.notes("machine").keys() == {names.MACHINE_HOST}, 20, "the flow")
            node = it.node()
            assert node is not None
            assert "a" == node["metadata"]["labels"].get("rack")
            assert 4 == len(lost)
            deletions = [one for one in it.writes() if one.method == "DELETE"]
            assert 1 == len(deletions)
            assert [True] * 4 == looked_after_doubt(manager)
            await manager.end()

    within(40, story())


def looked_after_doubt(manager: Managed) -> list[bool]:
    """For every outcome that nobody knows: was a live read of that object the next thing?"""
    found = []
    for number, one in enumerate(manager.happenings):
        if isinstance(one, Ended) and isinstance(one.outcome, Unknown):
            following = [later for later in manager.happenings[number:] if isinstance(later, Effect)]
            found.append(bool(following) and Confirm(one.effect.action.ref) == following[0].action)
    return found


def test_dry_run_writes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With --dry-run nothing but GET reaches the API, and the log says what would be done."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            manager = it.start(is_dry=True)
            await until(lambda: "TableRow" in manager.reasons())
            await asyncio.sleep(0.5)
            await manager.end()

            assert [] == it.writes()
            assert [] == manager.done()
            assert [f"AddRebootAnnotation {HOST_AT}"] == said(caplog, "would do")[0]["actions"]

    within(20, story())


def test_idle_writes_nothing_but_the_lease(tmp_path: Path) -> None:
    """When nothing is to be done, only the lease is written; heartbeats of nodes change nothing."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            manager = it.start()
            await until(manager.is_leading)
            for number in range(10):
                node = it.api.get(NODE, NODE_AT.name)
                beat = [{**node["status"]["conditions"][0], "lastHeartbeatTime": f"2030-03-17T17:50:{number:02}Z"}]
                it.api.update({**node, "status": {**node["status"], "conditions": beat}}, subresource="status")
                await asyncio.sleep(0.05)
            await manager.end()

            assert {"leases"} == {request.path.split("/")[6] for request in it.writes()}
            assert manager.happenings[0:1] != []

    within(20, story())


# --- a start ---------------------------------------------------------------------------------------------


def test_nodes_are_listed_without_a_question(tmp_path: Path) -> None:
    """What belongs to Kubernetes itself is always served: the longest list of a start waits for no discovery."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            manager = it.start()
            await until(manager.is_leading)
            await manager.end()

            paths = [request.path for _, request in it.requests]
            assert ("/api/v1/nodes" in paths, "/api/v1" in paths) == (True, False)

    within(20, story())


def test_looks_are_few_at_once_while_something_is_on_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first look at a large cluster leaves the loop to the writes that it has already led to."""
    taken: set[int] = set()
    step = Engine.step

    def counted(engine: Engine, now: Now, token: int | None, looks: int) -> Output:
        taken.add(looks)
        return step(engine, now, token, looks)

    monkeypatch.setattr(Engine, "step", counted)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            manager = it.start()
            await until(manager.is_leading)
            assert {500} == taken
            it.mark()
            await until(lambda: 50 in taken)
            await manager.end()

    within(20, story())


# --- what cannot be read or seen -------------------------------------------------------------------------


def test_unreadable_object_is_reported_on_itself(tmp_path: Path) -> None:
    """An object that does not decode gets a Warning event, is counted, and the others go on."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            Operator(it.api)
            loosen(it, "baremetalhosts.metal3.io")
            broken = a_host_tree("broken")
            it.create({**broken, "spec": {"online": "perhaps"}})
            manager = it.start(metrics_port=0)
            await until(manager.is_leading)
            it.mark()
            await until(lambda: "DropBackup" in manager.done(), what="the flow of the others")
            await until(lambda: warnings(it, "broken"))

            assert ["ObjectUnreadable"] == warnings(it, "broken")
            _, text = await asked(manager, "/metrics")
            assert 'node_remedy_quarantined_total{kind="BareMetalHost.metal3.io"} 1.0' in text
            await manager.end()

    within(30, story())


def test_what_stands_is_a_figure_of_the_leader(tmp_path: Path) -> None:
    """What calls a person is counted until it is over, also by who leads later; who stands by says nothing."""
    stands = 'node_remedy_reasons_standing{reason="BackupUnreadable",room="annotation"} 1.0'
    garbage = 'node_remedy_unreadable_objects{kind="BareMetalHost.metal3.io"} 1.0'

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            loosen(it, "baremetalhosts.metal3.io")
            it.create({**a_host_tree("broken"), "spec": {"online": "perhaps"}})
            note(it, "not a backup")
            first = it.start("first", metrics_port=0)
            await until(first.is_leading)
            second = it.start("second", metrics_port=0)
            await until(lambda: warnings(it, MACHINE_AT.name))
            shown = [(await asked(one, "/metrics"))[1] for one in (first, second)]
            assert [True, False] == [stands in text for text in shown]
            assert garbage in shown[0]

            note(it, None)
            it.api.delete(HOST, "broken", HOST_AT.namespace)
            for _ in range(100):
                _, text = await asked(first, "/metrics")
                if stands not in text and garbage not in text:
                    break
                await asyncio.sleep(0.05)
            assert stands not in text
            assert garbage not in text
            assert 'node_remedy_decisions_total{reason="BackupUnreadable",room="annotation"} 1.0' in text
            await first.end()
            await second.end()

    within(30, story())


def counts(it: Bench) -> list[int]:
    """How often each Event about the backup of the Machine says that it happened."""
    found = [event for event in it.api.list(EVENT) if event["reason"] == "BackupUnreadable"]
    return [(event.get("series") or {"count": 1})["count"] for event in found]


def test_what_comes_back_is_counted_in_its_event(tmp_path: Path) -> None:
    """Over and back, twice: `x3`. Who leads next has to say it as well, and counts nothing."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            note(it, "not a backup")
            first = it.start("first", metrics_port=0)
            await until(lambda: counts(it) == [1])
            for times in (2, 3):
                note(it, None)
                await is_over(first)
                note(it, "not a backup")
                await until(lambda times=times: counts(it) == [times])  # type: ignore[misc]
            await first.end()
            second = it.start("second")
            await until(lambda: "BackupUnreadable" in second.reasons())
            await second.end()

            assert [3] == counts(it)

    within(30, story())


async def is_over(manager: Managed) -> None:
    """Wait until its figures say that it stands no more."""
    for _ in range(200):
        _, text = await asked(manager, "/metrics")
        if 'node_remedy_reasons_standing{reason="BackupUnreadable"' not in text:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it stands for ever")


def note(it: Bench, backup: str | None) -> None:
    body = {"metadata": {"annotations": {names.NODE_BACKUP: backup}}}
    it.api.patch(MACHINE, MACHINE_AT.name, MACHINE_AT.namespace, body, "merge")


def loosen(it: Bench, name: str) -> None:
    """Let the API accept anything in a kind, as CRDs of other makers do."""
    from noderemedy.sim.kinds import CUSTOM_RESOURCE

    tree = it.api.get(CUSTOM_RESOURCE, name)
    anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{**version, "schema": anything} for version in tree["spec"]["versions"]]
    it.api.update({**tree, "spec": {**tree["spec"], "versions": versions}})


def warnings(it: Bench, name: str) -> list[str]:
    events = [event for event in it.api.list(EVENT) if event["regarding"]["name"] == name]
    return [event["reason"] for event in events if event["type"] == "Warning"]


def test_forbidden_watch(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A verb that is not granted: one clear message, not ready, nothing done; granted, it goes on."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            it.before = forbid("GET", "baremetalhosts")
            manager = it.start(metrics_port=0)
            await until(manager.is_leading)
            await until(lambda: said(caplog, "kind cannot be seen, nothing is decided"))
            await asyncio.sleep(0.5)

            [trouble] = said(caplog, "kind cannot be seen, nothing is decided")
            assert "grant list,watch on baremetalhosts.metal3.io to node-remedy" in trouble["why"]
            status, text = await asked(manager, "/readyz")
            assert (503, True) == (status, "baremetalhosts" in text)
            assert (200, "ok\n") == await asked(manager, "/healthz")
            assert [] == manager.done()

            it.before = lambda request: None
            await until(lambda: "AddRebootAnnotation" in manager.done())
            assert (200, "ok\n") == await asked(manager, "/readyz")
            await manager.end()

    within(30, story())


def forbid(method: str, plural: str) -> Any:
    message = f'{plural} is forbidden: User "node-remedy" cannot do that to resource "{plural}"'
    refused = failure(403, "Forbidden", message)
    return lambda request: refused if request.method == method and f"/{plural}" in request.path else None


def test_forbidden_write(tmp_path: Path) -> None:
    """A write that is not granted becomes one Warning on the Machine with the remedy, and is tried again slowly."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.before = forbid("PATCH", "baremetalhosts")
            manager = it.start()
            await until(manager.is_leading)
            it.mark()
            await until(lambda: "ActionRefused" in warnings(it, "worker-0"))
            await asyncio.sleep(0.5)

            tries = [one for one in it.writes() if "baremetalhosts" in one.path]
            assert 1 == len(tries)
            [event] = [one for one in it.api.list(EVENT) if one["reason"] == "ActionRefused"]
            assert "grant this to the manager's service account" in event["note"]
            await manager.end()

    within(30, story())


def test_missing_kind_is_picked_up_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without a CRD the log says once what does not work; when it is installed, work begins."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path, without=["baremetalhosts", "metal3machines"]) as it:
            it.create(a_machine_tree(needs=True))
            it.create(a_node_tree())
            manager = it.start(metrics_port=0)
            await until(lambda: "HostMissing" in manager.reasons())
            assert (200, "ok\n") == await asked(manager, "/readyz")
            await asyncio.sleep(0.4)
            missing = said(caplog, "kind is not served")
            assert ["baremetalhosts.metal3.io", "metal3machines.infrastructure.cluster.x-k8s.io"] == sorted(
                fact["crd"] for fact in missing if fact["crd"] not in NOT_HERE
            )

            [definition] = [tree for tree in crds.foreign() if tree["metadata"]["name"] == "baremetalhosts.metal3.io"]
            it.api.create(definition)
            it.create(a_host_tree())
            await until(lambda: "AddRebootAnnotation" in manager.done())
            assert [{"kind": "BareMetalHost.metal3.io"}] == said(caplog, "kind is served now")
            await manager.end()

    within(30, story())


def remove_definition(it: Bench, name: str) -> dict[str, Any]:
    """As `kubectl delete crd` does, with all its objects; the server ends the streams. Returns the definition."""
    from noderemedy.sim.kinds import CUSTOM_RESOURCE

    it.api.delete(CUSTOM_RESOURCE, name)
    it.endpoint.cut_watches()
    [definition] = [tree for tree in crds.foreign() if tree["metadata"]["name"] == name]
    return definition


def test_definition_of_machines_is_deleted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Machines that went with their CRD are gone: hold and claim go, no node is freed; work returns with it."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            manager = it.start(metrics_port=0)
            await until(lambda: "AddRebootAnnotation" in manager.done())
            definition = remove_definition(it, "machines.cluster.x-k8s.io")
            await until(lambda: "RemoveRebootAnnotation" in manager.done(), what="the release of the orphan")
            await until(lambda: "DropClaim" in manager.done(), what="the claim that went with its Machine")
            await asyncio.sleep(0.3)

            done = manager.done()
            assert (BEGUN, ["DropClaim", "RemoveRebootAnnotation"]) == (done[:3], sorted(done[3:]))
            assert "HoldOrphaned" in manager.reasons()
            unserved = [fact["crd"] for fact in said(caplog, "kind is not served")]
            assert ["machines.cluster.x-k8s.io"] == [name for name in unserved if name not in NOT_HERE]
            assert it.node() is not None
            assert (200, "ok\n") == await asked(manager, "/readyz")

            it.api.create(definition)
            it.create(a_machine_tree(needs=True))
            await until(lambda: manager.done().count("AddRebootAnnotation") == 2, what="the repair of the new Machine")
            await manager.end()

    within(30, story())


def test_definition_of_hosts_is_deleted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without hosts nothing is proven, so nothing is freed; the Machine says why; the repair goes on with the CRD."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            manager = it.start()
            await until(lambda: "AddRebootAnnotation" in manager.done())
            held = it.api.get(HOST, HOST_AT.name, HOST_AT.namespace)
            definition = remove_definition(it, "baremetalhosts.metal3.io")
            await until(lambda: "HostMissing" in manager.reasons(), what="the missing host")
            await asyncio.sleep(0.3)

            assert BEGUN == manager.done()
            assert (True, True) == (it.node() is not None, names.NEEDS_REMEDIATION in it.notes("machine"))

            it.api.create(definition)
            Operator(it.api)
            it.create(held)
            await until(lambda: "DropBackup" in manager.done(), 15, "the flow after the definition came back")
            assert FLOW == steps(manager.done())
            await manager.end()

    within(30, story())


def test_names_that_nobody_resolves_hold_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cluster's API server has a name: dead name servers of fifty delay no connection to another."""
    over, resolve = threading.Event(), socket.getaddrinfo

    def hang(host: str, *words: Any, **more: Any) -> Any:
        if host.endswith(".deaf"):
            over.wait(20)
            raise OSError("no such name")
        return resolve(host, *words, **more)

    monkeypatch.setattr(socket, "getaddrinfo", hang)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            manager = it.start()
            await until(manager.is_leading)
            loop = asyncio.get_running_loop()
            lost = [asyncio.create_task(loop.getaddrinfo(f"{number}.deaf", 6443)) for number in range(50)]
            await asyncio.sleep(0)
            try:
                async with asyncio.timeout(5):
                    assert await loop.getaddrinfo("localhost", 6443)
            finally:
                over.set()
                await asyncio.gather(*lost, return_exceptions=True)
            await manager.end()

    within(30, story())


# --- leadership ------------------------------------------------------------------------------------------


def test_second_manager_takes_over(tmp_path: Path) -> None:
    """Two managers: one leads; when it vanishes in the middle of a repair, the other finishes it."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            first = it.start("first")
            await until(first.is_leading)
            second = it.start("second", metrics_port=0)
            it.mark()
            await until(lambda: names.REBOOT in it.notes("host"))
            await asyncio.sleep(0.3)
            assert [] == second.done()
            assert not second.is_leading()
            assert (200, "ok\n") == await asked(second, "/readyz"), "who stands by with warm caches is ready"
            it.cut_off.add("first")
            it.endpoint.cut_watches()
            await until(lambda: not first.is_leading())
            assert "first" == it.lease()["holderIdentity"]
            Operator(it.api)
            it.api.patch(HOST, HOST_AT.name, HOST_AT.namespace, {"metadata": {"labels": {"poke": "1"}}})
            await until(lambda: "DropBackup" in second.done(), 15, "the second manager's part")

            assert FLOW == steps(first.done() + second.done())
            assert ("second", 2) == (it.lease()["holderIdentity"], it.lease()["leaseTransitions"])
            await second.end()

    within(40, story())


def test_manager_on_the_sick_node_stands_aside(tmp_path: Path) -> None:
    """It begins nothing on its own node; the other replica takes over and repairs it. No token is used twice."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            Operator(it.api)
            first = it.start("first", node=NODE_AT.name)
            await until(first.is_leading)
            second = it.start("second", node="another")
            it.mark()
            await until(lambda: not first.is_leading())
            await until(lambda: "DropBackup" in second.done(), 20, "the other replica's repair")

            assert "OwnNode" in first.reasons()
            assert {"WriteLedger"} >= set(first.done()), "it may have reserved, and did nothing"
            assert FLOW[1:] == [one for one in steps(second.done()) if one != "WriteLedger"]
            assert ("second", 2) == (it.lease()["holderIdentity"], it.lease()["leaseTransitions"])
            await second.end()

    asyncio.run(story())


def test_graceful_stop_releases_the_lease(tmp_path: Path) -> None:
    """On stop the lease is handed over at once, so that the next manager need not wait for it to expire."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            first = it.start("first")
            await until(first.is_leading)
            await first.end()

            assert "" == (it.lease().get("holderIdentity") or "")
            assert not first.is_leading()

    within(20, story())


def test_a_port_that_is_taken_ends_it_before_it_leads(tmp_path: Path) -> None:
    """Nothing is written and nothing goes on: lists that were asked for meanwhile are left."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                manager = it.start(metrics_host="127.0.0.1", metrics_port=taken.getsockname()[1])
                await until(manager.task.done, what="the end")
            problem = manager.task.exception()
            assert isinstance(problem, PortTaken)
            assert "--metrics-port" in str(problem)
            left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("watch of")]
            writes = [request for _, request in it.requests if request.method != "GET"]
            assert ([], False, []) == (left, manager.is_leading(), writes)

    within(20, story())


def test_crash_kernels_are_heard_where_asked_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Their message comes through the manager's own socket to the node with that address; the socket goes with it."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.create(a_node_tree(name="crashed"))
            addresses = {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}
            it.api.patch(NODE, "crashed", "", {"status": addresses}, "merge", "status")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
                ours.bind(("127.0.0.1", 0))
                port = ours.getsockname()[1]
            manager = it.start(kdump_listen=f"127.0.0.1:{port}")
            await until(manager.is_leading)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as crashed:
                crashed.sendto(min(MESSAGES), ("127.0.0.1", port))
            await until(lambda: said(caplog, "a kernel dump begins"), what="the dump")
            await manager.end()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", port))
        assert [{"node": "crashed", "address": "127.0.0.1"}] == said(caplog, "a kernel dump begins")

    caplog.set_level("INFO")
    within(20, story())


@pytest.mark.parametrize("listens", [False, True])
def test_a_manager_that_hears_no_crash_kernel_says_so(
    listens: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a fence configuration counts on it: in its log, and as an event on the ConfigMap."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            meta = {"name": "fence-config-worker-0", "namespace": SYSTEM}
            words = "node_name=worker-0\npower_management=host-power\nkdump=true"
            it.create(a_node_tree())
            it.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"config.properties": words}})
            manager = it.start(**({"kdump_listen": "127.0.0.1:0"} if listens else {}))
            await until(manager.is_leading)
            await until(lambda: listens or bool(told()), what="the reason")
            await manager.end()
        assert (0 if listens else 1) == len(told())

    def told() -> list[dict[str, Any]]:
        return [one for one in said(caplog, "decided") if one.get("reason") == "KdumpUnheard"]

    caplog.set_level("INFO")
    within(20, story())


def test_a_port_for_dumps_that_is_taken_ends_it(tmp_path: Path) -> None:
    """It names the option, and nothing is written."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
                taken.bind(("127.0.0.1", 0))
                manager = it.start(kdump_listen=f"127.0.0.1:{taken.getsockname()[1]}")
                await until(manager.task.done, what="the end")
            problem = manager.task.exception()
            assert isinstance(problem, PortTaken)
            assert "--kdump-listen" in str(problem)
            assert [] == [request for _, request in it.requests if request.method != "GET"]

    within(20, story())


def test_stop_waits_for_what_is_in_flight(tmp_path: Path) -> None:
    """A write that is on its way when the manager stops is finished, and the lease released only after it."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            arrived, go_on = asyncio.Event(), asyncio.Event()

            async def hold_back(request: Request) -> None:
                if request.method == "PATCH" and "baremetalhosts" in request.path:
                    arrived.set()
                    await go_on.wait()

            it.delay = hold_back
            manager = it.start()
            await until(manager.is_leading)
            it.mark()
            await arrived.wait()
            manager.stop.set()
            await asyncio.sleep(0.3)
            assert "first" == it.lease().get("holderIdentity")
            go_on.set()
            await asyncio.wait_for(manager.task, 10)

            assert BEGUN == manager.done()
            assert "" == (it.lease().get("holderIdentity") or "")

    within(30, story())


def test_missing_namespace_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without its namespace the manager cannot lead; the log says which one to create, once."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path, namespace=False) as it:
            manager = it.start()
            await until(lambda: said(caplog, "lease trouble"))
            await asyncio.sleep(0.5)
            [trouble] = said(caplog, "lease trouble")
            assert f"create the namespace {SYSTEM}" in trouble["why"]
            await manager.end()

    within(20, story())


# --- the API goes away -----------------------------------------------------------------------------------


def test_api_away_and_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An outage is one message, its end another; what happened meanwhile is not lost."""
    caplog.set_level(logging.INFO)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            Operator(it.api)
            manager = it.start(metrics_port=0)
            await until(manager.is_leading)
            await until(lambda: said(caplog, "caches are in step with the API"))
            it.before = lambda request: Drop()
            it.endpoint.cut_watches()
            await until(lambda: said(caplog, "API server is away"))
            it.mark()
            await asyncio.sleep(0.5)
            assert 503 == (await asked(manager, "/readyz"))[0]
            assert [] == manager.done()
            it.before = lambda request: None
            await until(lambda: "DropBackup" in manager.done(), 15, "the flow after the outage")

            assert FLOW == steps(manager.done())
            assert 1 == len(said(caplog, "API server is away"))
            assert 1 == len(said(caplog, "API server is back"))
            assert (200, "ok\n") == await asked(manager, "/readyz")
            await manager.end()

    within(40, story())


def test_logs_hold_no_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The token of the kubeconfig is in no log line, not even when the API is away."""
    caplog.set_level(logging.DEBUG)

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            manager = it.start()
            await until(lambda: "AddRebootAnnotation" in manager.done())
            it.before = lambda request: Drop()
            it.endpoint.cut_watches()
            await until(lambda: said(caplog, "API server is away"))
            it.before = lambda request: None
            await manager.end()

    within(20, story())
    facts = [json.dumps(vars(record).get("facts", {}), default=str) for record in caplog.records]
    lines = [f"{record.getMessage()} {fact}" for record, fact in zip(caplog.records, facts, strict=True)]
    assert any("decided" in line for line in lines)
    assert [] == [line for line in lines if TOKENS["first"] in line]
