"""Answers of the API to outcomes: done, surely not done, or nobody knows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, NOW, a_host, a_host_tree, a_node, a_node_tree, present
from tests.engine.bench import key

from noderemedy.core.safety import powered_off
from noderemedy.model.actions import Action, Confirm, DeleteNode, DropBackup, Guard, RemoveRebootAnnotation
from noderemedy.model.host import Power
from noderemedy.model.outcome import Done, Effect, Failed, Outcome, Unknown
from noderemedy.model.time import Span
from noderemedy.wire.answers import outcome
from noderemedy.wire.http import Answer

PROOF = powered_off(a_node(ready="Unknown"), present(a_host(power=Power.OFF, held=True)), NOW)
assert PROOF is not None
READ = Confirm(NODE_AT)
DELETE = DeleteNode(NODE_AT, Guard("node-uid-1", "103"), "boot-1", PROOF)
WRITE = RemoveRebootAnnotation(HOST_AT, Guard("host-uid-1", "102"))
DROP = DropBackup(MACHINE_AT, Guard("machine-uid-1"))


def status(message: str, reason: str = "") -> bytes:
    return json.dumps({"kind": "Status", "status": "Failure", "message": message, "reason": reason}).encode()


def ended(action: Action, code: int, body: bytes = b"", **answer: Any) -> Outcome:
    return outcome(Effect(1, key(action.ref), action, 7), Answer(code, body, NOW.wall, **answer), NOW.mono)


def test_a_read_object_is_seen() -> None:
    """200 with the object: done, seen, with the begin of the request and the server's date."""
    result = ended(READ, 200, json.dumps(a_node_tree()).encode())

    assert isinstance(result, Done)
    assert result.seen is not None
    assert (NODE_AT, "node-uid-1", "103") == (result.seen.ref, result.seen.uid, result.seen.resource_version)
    assert (NOW.mono, False, NOW.wall) == (result.begun, result.gone, result.date)


def test_a_written_object_is_seen() -> None:
    """The answer to a patch is the object as it is now."""
    result = ended(WRITE, 200, json.dumps(a_host_tree(version="200")).encode())

    assert isinstance(result, Done)
    assert result.seen is not None
    assert "200" == result.seen.resource_version


def test_a_deleted_node_is_gone() -> None:
    """The API answers a deletion with a Status when the object is gone at once."""
    body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Success", "details": {"uid": "x"}}).encode()

    assert Done(NOW.mono, gone=True, date=NOW.wall) == ended(DELETE, 200, body)


def test_a_node_with_finalizers_is_still_there() -> None:
    """Then the answer is the object with its time of deletion, and it is an object like any other."""
    tree = a_node_tree()
    tree["metadata"]["deletionTimestamp"] = "2030-03-17T17:46:40Z"

    result = ended(DELETE, 200, json.dumps(tree).encode())

    assert isinstance(result, Done)
    assert result.seen is not None
    assert (False, True) == (result.gone, result.seen.obj.deleting)


@pytest.mark.parametrize("action", [READ, DELETE])
def test_not_found_means_gone_for_a_read_and_a_deletion(action: Action) -> None:
    """Both wanted to know or to have just that."""
    assert Done(NOW.mono, gone=True, date=NOW.wall) == ended(action, 404, status("not found", "NotFound"))


OTHER_UID = b'{"kind":"Status","message":"field is immutable","details":{"causes":[{"field":"metadata.uid"}]}}'
CASES: dict[str, tuple[Action, int, bytes, dict[str, Any], Outcome]] = {
    "404 on a patch": (DROP, 404, status("gone"), {}, Failed("HTTP 404: gone", conflict=True)),
    "409": (WRITE, 409, status("modified", "Conflict"), {}, Failed("modified", conflict=True)),
    "409 on a deletion": (DELETE, 409, status("uid differs"), {}, Failed("uid differs", conflict=True)),
    "403": (
        WRITE,
        403,
        status("no rights"),
        {},
        Failed(
            "no rights; grant this to the manager's service account (deploy/rbac), "
            "object BareMetalHost/metal/rack1-u07",
            lasting=True,
        ),
    ),
    "422": (WRITE, 422, status("invalid"), {}, Failed("HTTP 422: invalid", lasting=True)),
    "422 of the uid": (WRITE, 422, OTHER_UID, {}, Failed("field is immutable", conflict=True)),
    "400": (WRITE, 400, b"", {}, Failed("HTTP 400: HTTP 400", lasting=True)),
    "429": (WRITE, 429, status("slow"), {"retry_after": Span(3_000)}, Failed("slow", retry_after_ms=3_000)),
    "429 without a wish": (WRITE, 429, status("slow"), {}, Failed("slow")),
    "500": (WRITE, 500, status("etcd"), {}, Unknown("HTTP 500: etcd")),
    "503 of a proxy": (WRITE, 503, b"<html>", {}, Unknown("HTTP 503: HTTP 503")),
    "504": (DELETE, 504, status("timeout"), {}, Unknown("HTTP 504: timeout")),
    "500 on a read": (READ, 500, b"", {}, Unknown("HTTP 500: HTTP 500")),
    "302": (WRITE, 302, b"", {}, Failed("HTTP 302: HTTP 302", lasting=True)),
}


@pytest.mark.parametrize("name", CASES)
def test_each_answer_has_its_outcome(name: str) -> None:
    """What surely did not happen has failed; what a broken server may have done is unknown."""
    action, code, body, answer, expected = CASES[name]

    assert expected == ended(action, code, body, **answer)


def test_unauthorized_is_lasting() -> None:
    """A wrong token is for a person, like a missing right."""
    result = ended(WRITE, 401, status("Unauthorized"))

    assert isinstance(result, Failed)
    assert result.lasting


@pytest.mark.parametrize("body", [b"", b"not JSON", b"[]", b'{"metadata":{}}', b'{"metadata":{"name":1}}', b"\xff\xfe"])
def test_an_answer_that_cannot_be_read_is_a_failure_that_stays(body: bytes) -> None:
    """A live read that shows garbage shows nothing: the object must be mended first."""
    result = ended(READ, 200, body)

    assert isinstance(result, Failed)
    assert result.lasting


def test_a_write_whose_answer_cannot_be_read_was_done() -> None:
    """It was applied: calling it a failure would be a lie. What became of the object is the watch's news."""
    assert Done(NOW.mono, date=NOW.wall) == ended(WRITE, 200, b"not JSON")


@pytest.mark.parametrize("body", [b"", b"\xff", b'{"message":"\xff"}', b'"text"', b'{"message":5}', b"[" * 9_999])
def test_a_refusal_that_cannot_be_read_still_has_its_number(body: bytes) -> None:
    """Proxies answer in their own words."""
    assert Unknown("HTTP 502: HTTP 502") == ended(WRITE, 502, body)
