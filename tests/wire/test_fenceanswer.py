"""Orders, results and what a run reads live, as bytes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.fencing.orders import ORDER
from tests.fuzzing import in_time

from noderemedy.model.run import Power, Result, RunState
from noderemedy.model.time import Span
from noderemedy.wire import fenceanswer


def test_an_order_survives_its_way_into_a_job() -> None:
    """What the runner reads is what the manager ordered."""
    assert ORDER == fenceanswer.read_order(fenceanswer.order_text(ORDER))


def test_a_broken_order_is_refused() -> None:
    """A message says which field is wrong."""
    tree = json.loads(fenceanswer.order_text(ORDER))

    with pytest.raises(fenceanswer.Unreadable, match="deed"):
        fenceanswer.read_order(json.dumps({**tree, "deed": "cycle"}))


def test_a_result_survives_its_way_out_of_a_job() -> None:
    """Power, words, identity and how long it took come through the termination message."""
    result = Result(RunState.DONE, Power.OFF, "node n: off", "4c4c4544", took=Span.seconds(125))

    assert result == fenceanswer.read_result(fenceanswer.result_text(result))


def test_a_result_of_an_older_runner_took_no_time() -> None:
    """It does not say how long it took: then all the time counts as the age of its answer."""
    assert Result(RunState.DONE, Power.OFF) == fenceanswer.read_result('{"state": "done", "power": "off"}')


def test_a_long_result_is_cut_to_what_kubernetes_keeps() -> None:
    """The message stays readable JSON, with the beginning of its words."""
    text = fenceanswer.result_text(Result(RunState.FAILED, said="ü" * 5000))

    assert 4096 >= len(text.encode())
    assert fenceanswer.read_result(text).said.startswith("ü" * 100)


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_whatever_else_a_job_says_is_a_failure(text: str) -> None:
    """Garbage in a termination message never counts as done."""
    with in_time():
        assert RunState.FAILED is fenceanswer.read_result(text).state


@pytest.mark.parametrize(
    ("spec", "token"),
    [
        ({"leaseTransitions": 7, "holderIdentity": "m"}, 7),
        ({"leaseTransitions": 7, "holderIdentity": ""}, -1),
        ({"leaseTransitions": 7}, -1),
        ({"holderIdentity": "m"}, -1),
    ],
)
def test_who_leads(spec: dict[str, Any], token: int) -> None:
    """A Lease without a holder is nobody's."""
    assert token == fenceanswer.leading_token(json.dumps({"spec": spec}).encode())


def test_the_texts_of_a_secret() -> None:
    """What is no base64 or no text is left out: the parameter that needs it is named as missing."""
    data = {"password": base64.b64encode(b"hunter2").decode(), "binary": base64.b64encode(b"\xff").decode(), "bad": "?"}

    assert {"password": "hunter2"} == fenceanswer.secret_data(json.dumps({"data": data}).encode())


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"spec": 7}', b"\xff"])
def test_an_unreadable_answer_is_no_answer(body: bytes) -> None:
    """It raises what the caller takes for not knowing."""
    with pytest.raises(fenceanswer.Unreadable):
        fenceanswer.leading_token(body)
