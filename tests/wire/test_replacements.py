"""What the reference owner reads of a Machine and writes on it: the record, the template of a successor, its parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import MACHINE_AT, RESOURCES, a_machine_tree
from tests.wire.test_answers import ended

from noderemedy.model.actions import CreateMachine, DeleteMachine, ForgetReplacement, Guard
from noderemedy.model.ids import MACHINE, ref
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Done
from noderemedy.model.replacement import Replacement, Step
from noderemedy.model.time import Wall
from noderemedy.wire.objects import Undecodable, convert
from noderemedy.wire.replacements import own_parts, read_replacement, replacement_text
from noderemedy.wire.requests import render

OWNED = {"node-remedy.dev/owner": "node-remedy"}
FORGET = ForgetReplacement(MACHINE_AT, Guard("machine-uid-1", "101"), ())
WALLS = st.integers(0, 4_000_000_000).map(lambda seconds: Wall(seconds * 1000))
RECORDS = st.builds(Replacement, st.text(min_size=1), WALLS, st.sampled_from(Step), st.none() | WALLS)


def read(tree: dict[str, Any]) -> Machine:
    machine: Machine = convert(MACHINE, tree).obj
    return machine


def a_tree(notes: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    tree = a_machine_tree(host=None, annotations=notes if notes is not None else OWNED)
    tree["metadata"].update(changes.pop("metadata", {}))
    return {**tree, **changes}


@given(RECORDS, st.integers(0, 2**31))
@settings(max_examples=50)
def test_a_record_is_read_back_as_it_was_written(record: Replacement, token: int) -> None:
    """Whatever we record we understand after a restart, with the token of the leader that wrote it."""
    found = read_replacement(replacement_text(record, token))

    assert Replacement(record.name, record.since, record.step, record.at, token) == found


@pytest.mark.parametrize(
    "text", ["", "{", "{}", '{"name":"","since":"2030-01-01T00:00:00Z","step":"drain"}', '{"name":"x","since":"y"}']
)
def test_a_record_that_somebody_edited_is_never_absent(text: str) -> None:
    """What cannot be read is told so."""
    machine = read(a_tree({"node-remedy.dev/replacement": text}))

    assert isinstance(machine.replacement, Malformed)


def test_what_is_read_of_a_machine() -> None:
    """Owner, finalizers, the time of its deletion, whom it follows, and whether its node is drained."""
    notes = {**OWNED, "node-remedy.dev/replaces": "u", "machine.cluster.x-k8s.io/exclude-node-draining": ""}
    meta = {"finalizers": ["a", "b"], "deletionTimestamp": "2030-01-01T00:00:00Z"}

    machine = read(a_tree(notes, metadata=meta))

    assert ("node-remedy", "u", ("a", "b")) == (machine.owner, machine.replaces, machine.finalizers)
    assert (True, True, Wall(1_893_456_000_000)) == (machine.excludes_drain, machine.deleting, machine.deleted_at)


def test_a_successor_takes_over_all_but_what_belonged_to_one_machine() -> None:
    """Labels, annotations and spec go over; providerID, our notes and requests of people do not."""
    notes = {
        **OWNED,
        "team": "storage",
        "host.metal3.io/external-remediation": "",
        "metal3.io/BareMetalHost": "metal/x",
        "cluster.x-k8s.io/remediate-machine": "",
        "node-remedy.dev/paused": "true",
        "node-remedy.dev/replacement": "{}",
        "node-remedy.dev/replaces": "u",
        "remediation.metal3.io/node-backup": "{}",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    spec = {"clusterName": "c", "providerID": "cloud://1", "deep": {"list": [1, {"a": None}]}}
    machine = read(a_tree(notes, spec=spec, metadata={"labels": {"pool": "a"}}))

    request = render(CreateMachine(ref(MACHINE, "next", "metal"), "machine-uid-1", machine.template), 7, RESOURCES)

    assert ("POST", "/apis/cluster.x-k8s.io/v1beta1/namespaces/metal/machines") == (request.method, request.path)
    assert {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {
            "name": "next",
            "namespace": "metal",
            "labels": {"pool": "a"},
            "annotations": {**OWNED, "team": "storage", "node-remedy.dev/replaces": "machine-uid-1"},
        },
        "spec": {"clusterName": "c", "deep": {"list": [1, {"a": None}]}},
    } == json.loads(request.body)


@pytest.mark.parametrize("notes", [{}, {"node-remedy.dev/owner": "somebody"}])
def test_only_machines_that_named_us_are_kept_whole(notes: dict[str, str]) -> None:
    """Thousands of others are known by what is judged of them alone."""
    machine = read(a_tree(notes, spec={"infrastructureRef": {"kind": "X"}}))

    assert ("", ()) == (machine.template, machine.own_parts)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ({}, ()),
        ({"infrastructureRef": {"kind": "CloudMachineTemplate"}}, ()),
        ({"infrastructureRef": {"kind": "CloudMachine"}}, ("spec.infrastructureRef (CloudMachine)",)),
        ({"infrastructureRef": "text"}, ("spec.infrastructureRef ()",)),
        ({"bootstrap": {"dataSecretName": "s"}}, ()),
        ({"bootstrap": {"configRef": {"kind": "KubeadmConfig"}}}, ("spec.bootstrap.configRef (KubeadmConfig)",)),
        ({"bootstrap": {"configRef": {"kind": "KubeadmConfigTemplate"}}}, ()),
        ({"bootstrap": "text"}, ()),
    ],
)
def test_what_a_successor_could_not_use(spec: dict[str, Any], parts: tuple[str, ...]) -> None:
    """Whatever the spec names that is no template belongs to one machine alone."""
    assert parts == own_parts(spec)


def test_a_spec_that_cannot_be_read_is_refused_with_its_path() -> None:
    """The message names the field."""
    with pytest.raises(Undecodable, match=r"spec\.providerID: a number where a text"):
        read(a_tree(spec={"providerID": 5}))


@pytest.mark.parametrize(
    ("meta", "is_gone"),
    [
        ({"deletionTimestamp": "2030-01-01T00:00:00Z"}, True),
        ({"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["x"]}, False),
        ({}, False),
    ],
)
def test_a_machine_that_was_let_go_is_gone(meta: dict[str, Any], is_gone: bool) -> None:
    """The answer to the last finalizer's removal is the last there is of it: it must not stay in the cache."""
    outcome = ended(FORGET, 200, json.dumps(a_tree(metadata=meta)).encode())

    assert isinstance(outcome, Done)
    assert (is_gone, not is_gone) == (outcome.gone, outcome.seen is not None)


def test_a_machine_that_is_not_found_was_deleted() -> None:
    """That is what was wanted."""
    outcome = ended(DeleteMachine(MACHINE_AT, Guard("machine-uid-1", "101")), 404)

    assert isinstance(outcome, Done)
    assert outcome.gone
