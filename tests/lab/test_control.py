"""The lab's own path: who may cause faults, and what is answered to whom."""

from __future__ import annotations

import json

import pytest

from noderemedy.lab import control
from noderemedy.lab.faults import FAULTS
from noderemedy.lab.http_faults import Instead
from noderemedy.lab.lab import MANAGER
from noderemedy.model.errors import Permanent
from noderemedy.sim.apiserver import ADMIN, User
from noderemedy.wire.http import Request

NODES = ("worker-1", "worker-2")


class Desk:
    """Answers requests and notes which faults were asked for."""

    def __init__(self) -> None:
        self.injected: list[tuple[str, str]] = []

    def inject(self, fault: str, node: str) -> None:
        if node not in NODES:
            raise Permanent(f"there is no node {node!r}")
        self.injected.append((fault, node))

    def ask(self, method: str, path: str, body: str = "", user: User = ADMIN) -> Instead:
        return control.answer(Request(method, path, body=body.encode()), user, NODES, self.inject)


def test_an_administrator_causes_a_fault() -> None:
    """The fault happens and the answer says what it means."""
    desk = Desk()
    found = desk.ask("POST", "/lab/faults", '{"fault": "hang", "node": "worker-2"}')

    assert (200, [("hang", "worker-2")]) == (found.status, desk.injected)
    assert FAULTS["hang"].means in json.loads(found.body)["message"]


def test_the_offer_names_nodes_and_faults() -> None:
    """GET /lab says what can be asked for."""
    found = Desk().ask("GET", "/lab")

    assert {"nodes": list(NODES), "faults": list(FAULTS)} == json.loads(found.body)


REFUSED = [
    ("POST", "/lab/faults", '{"fault": "hang", "node": "worker-2"}', MANAGER, 403, "may not cause faults"),
    ("GET", "/lab", "", User("somebody"), 403, "kubeconfig"),
    ("POST", "/lab/faults", '{"fault": "hang", "node": "worker-7"}', ADMIN, 422, "no node 'worker-7'"),
    ("POST", "/lab/faults", '{"fault": "hang"}', ADMIN, 400, "node"),
    ("POST", "/lab/faults", "hang", ADMIN, 400, "expected"),
    ("POST", "/lab/faults", "", ADMIN, 400, "expected"),
    ("GET", "/lab/faults", "", ADMIN, 404, "POST /lab/faults"),
    ("DELETE", "/lab", "", ADMIN, 404, "GET /lab"),
]


@pytest.mark.parametrize(("method", "path", "body", "user", "status", "word"), REFUSED)
def test_everything_else_is_refused(method: str, path: str, body: str, user: User, status: int, word: str) -> None:
    """A refusal has a status and a sentence, and nothing happens."""
    desk = Desk()
    found = desk.ask(method, path, body, user)

    assert (status, []) == (found.status, desk.injected)
    assert word in json.loads(found.body)["message"]


def test_only_the_labs_own_path_is_taken() -> None:
    """Paths of Kubernetes that look alike go to the API server."""
    paths = ["/lab", "/lab/faults", "/laboratory", "/api/v1/nodes", "/apis/lab"]

    assert [True, True, False, False, False] == [control.is_control(Request("GET", path)) for path in paths]
