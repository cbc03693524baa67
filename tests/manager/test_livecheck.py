"""`check` on a live cluster over real HTTP: Secrets and templates are read by name, and nothing is ever written."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.builders import a_node_tree
from tests.cli.test_check_command import GOOD
from tests.manager.bench import Bench, bench
from tests.wire.agents import AGENTS

from noderemedy.lab.http_faults import Fault, failure
from noderemedy.manager import livecheck, liveplan
from noderemedy.manager.check import Finding
from noderemedy.model.agent import AgentDescription
from noderemedy.model.time import Wall
from noderemedy.wire.http import Request

NOW = Wall(1_900_000_000_000)
SECRET = "/secrets/pdu"


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_agents(monkeypatch)


def invent_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agents of this machine are invented ones."""

    async def describe(name: str, where: tuple[Path, ...]) -> AgentDescription | None:
        return AGENTS.get(name)

    monkeypatch.setattr(liveplan, "describe", describe)


def trees(*left_out: str) -> list[dict[str, Any]]:
    """The objects of the good configuration; a Secret as the API has it."""
    documents = [one for tree in yaml.safe_load_all(GOOD) for one in tree.get("items", [tree])]
    for tree in documents:
        if tree["kind"] == "Secret":
            coded = {key: base64.b64encode(text.encode()).decode() for key, text in tree.pop("stringData").items()}
            tree["data"] = coded
    return [tree for tree in documents if tree["kind"] not in left_out]


def check(
    folder: Path, *left_out: str, before: Callable[[Request], Fault | None] = lambda request: None
) -> list[Finding]:
    async def story() -> list[Finding]:
        async with bench(folder) as it:
            populate(it, *left_out)
            it.before = before
            found, _, _ = await livecheck.on_cluster(it.kubeconfig, "", NOW, has_agents=True)
            assert {"GET"} == {request.method for _, request in it.requests}
            return found

    return asyncio.run(asyncio.wait_for(story(), 20))


def populate(it: Bench, *left_out: str) -> None:
    for tree in trees(*left_out):
        it.create(tree)
    label = {"node-restriction.kubernetes.io/outlet": "7"}
    it.create(a_node_tree("worker-1", labels={"type": "compute"}))
    it.create(a_node_tree("worker-2", labels={"rack": "r1", **label}))


def test_a_good_cluster_has_no_problem(tmp_path: Path) -> None:
    """Everything is found, read by name where nobody watches it, and nothing is written."""
    assert [] == check(tmp_path)


def test_a_missing_secret_and_a_missing_template_are_problems(tmp_path: Path) -> None:
    """In a cluster what is not there is not there."""
    found = check(tmp_path, "Secret", "FenceRemediationTemplate")

    assert {False} == {one.is_note for one in found}
    told = json.dumps([one.text for one in found])
    assert "method outlet: Secret node-remedy-system/pdu is not there; create it" in told
    assert "FenceRemediationTemplate/default/fence does not exist" in told


def test_a_secret_that_may_not_be_read_is_a_note(tmp_path: Path) -> None:
    """Whoever checks need not have the rights of the manager."""

    def forbidden(request: Request) -> Fault | None:
        return failure(403, "Forbidden", "no") if request.path.endswith(SECRET) else None

    found = check(tmp_path, before=forbidden)

    assert [True, True] == [one.is_note for one in found]
    assert "cannot be read (the API server answered 403): it was not checked" in found[0].text
