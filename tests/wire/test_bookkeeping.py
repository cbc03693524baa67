"""Our bookkeeping in the API: what is written is read back, what cannot be read whole is not read at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.model.configmap import ConfigMap
from noderemedy.model.ids import CONFIG_MAP, LEASE, Kind, Ref
from noderemedy.model.lease import Lease
from noderemedy.model.ledger import LEDGER_AT, BudgetLedger, Calm, Reservation, Start
from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall
from noderemedy.wire.bookkeeping import ledger_text, read_ledger
from noderemedy.wire.objects import convert


def a_config_map(data: Any, name: str = LEDGER_AT.name, namespace: str = LEDGER_AT.namespace) -> ConfigMap:
    tree = {"metadata": {"name": name, "namespace": namespace, "uid": "u", "resourceVersion": "1"}, "data": data}
    obj = convert(CONFIG_MAP, tree).obj
    assert isinstance(obj, ConfigMap)
    return obj


words = st.text("abcdefgh-.", min_size=1, max_size=8)
walls = st.integers(0, 2_000_000_000).map(lambda seconds: Wall(seconds * 1000))
refs = st.builds(Ref, st.sampled_from(("", "metal/other")), st.builds(Kind, words, words), words, words)
ledgers = st.builds(
    BudgetLedger,
    st.lists(
        st.builds(Reservation, refs, walls, st.none() | refs, words, st.integers(1, 99)),
        max_size=4,
        unique_by=lambda one: one.target,
    ).map(lambda found: tuple(sorted(found, key=lambda one: one.target))),
    st.lists(st.builds(Start, walls, words), max_size=4).map(lambda found: tuple(sorted(found))),
    st.lists(st.builds(Calm, words, walls), max_size=3).map(lambda found: tuple(sorted(found))),
)


@settings(max_examples=100)
@given(ledgers)
def test_a_ledger_is_read_back_as_it_was_written(ledger: BudgetLedger) -> None:
    """Whatever it holds: names, clusters, tokens, times in whole seconds."""
    assert ledger == read_ledger(ledger_text(ledger, 7))


def test_new_reservations_get_the_token_of_the_leader() -> None:
    """Old ones keep the token of whoever granted them."""
    made = Reservation(LEDGER_AT, Wall(0)), Reservation(LEDGER_AT, Wall(1_000), token=3)
    found = json.loads(ledger_text(BudgetLedger(made), 7))

    assert [7, 3] == [one["token"] for one in found["reservations"]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"version":2}',
        '{"version":1,"reservations":[{}]}',
        '{"version":1,"reservations":7}',
        '{"version":1,"reservations":[{"target":{"kind":"Machine","name":"a"},"since":"soon"}]}',
        '{"version":1,"starts":["2030-01-01T00:00:00Z"]}',
    ],
)
def test_half_a_ledger_is_none(text: str) -> None:
    """What cannot be read whole is malformed, with the key and the problem; never an empty ledger."""
    found = a_config_map({"ledger.json": text}).ledger

    assert isinstance(found, Malformed)
    assert found.problem.startswith("ledger.json: ")


def test_a_broken_piece_of_a_ledger_is_told_by_its_place() -> None:
    """Whoever has to mend it needs to know which of hundreds it is."""
    good = '{"target":{"kind":"Machine","name":"a"},"since":"2030-01-01T00:00:00Z"}'
    found = read_ledger(f'{{"version":1,"reservations":[{good},{{"target":7}}]}}')

    assert Malformed("ledger.json: Expected `object`, got `int` - at `$.reservations[1].target`") == found


@pytest.mark.parametrize("data", [None, {}, {"other": "x"}])
def test_a_ledger_without_its_key_is_empty(data: Any) -> None:
    """Somebody made the ConfigMap, and nothing is reserved in it."""
    assert ConfigMap("u") == a_config_map(data)


def test_other_config_maps_are_not_read() -> None:
    """Neither one of another name nor one of that name elsewhere."""
    assert ConfigMap("u") == a_config_map({"ledger.json": "{"}, name="other")
    assert ConfigMap("u") == a_config_map({"ledger.json": "{"}, namespace="default")


@pytest.mark.parametrize(
    ("spec", "holder"), [(None, ""), ({}, ""), ({"holderIdentity": None}, ""), ({"holderIdentity": "me"}, "me")]
)
def test_a_lease_says_who_holds_it(spec: Any, holder: str) -> None:
    """Renewals are left out: they wake nobody."""
    meta = {"name": "repair-a", "namespace": "node-remedy-system", "uid": "u", "resourceVersion": "1"}
    renewed = {**(spec or {}), "renewTime": "2030-01-01T00:00:00.000000Z"} if spec else spec

    assert Lease("u", holder) == convert(LEASE, {"metadata": meta, "spec": renewed}).obj
