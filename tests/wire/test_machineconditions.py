"""The conditions of a Machine on the wire: where each version keeps them, and what others said word for word."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import MACHINE_AT, RESOURCES, a_machine_tree

from noderemedy.model.actions import Guard, WriteMachineConditions
from noderemedy.model.checkstatus import Foreign
from noderemedy.model.ids import MACHINE, OPENSHIFT_MACHINE
from noderemedy.model.machineconditions import OURS, Conditions, Graded, MachineConditions
from noderemedy.wire.machineconditions import conditions_body
from noderemedy.wire.objects import Undecodable, convert
from noderemedy.wire.requests import render

READY = {"type": "Ready", "status": "True", "observedGeneration": 3, "nested": {"a": [1]}}
READY_TEXT = Foreign(msgspec.json.encode(READY).decode())
TIME = "2030-03-17T17:46:40Z"
OLD_TREE = {
    "type": "HealthCheckSucceeded",
    "status": "False",
    "severity": "Warning",
    "reason": "NodeNotFound",
    "lastTransitionTime": TIME,
}
OLD = Graded("HealthCheckSucceeded", "False", "NodeNotFound", "", TIME, "Warning")
NEW_TREE = {
    "type": "OwnerRemediated",
    "status": "False",
    "reason": "WaitingForRemediation",
    "message": "",
    "lastTransitionTime": TIME,
    "observedGeneration": 4,
}
NEW = Graded("OwnerRemediated", "False", "WaitingForRemediation", "", TIME, "", 4)


def read(version: str, status: dict[str, Any], group: str = "cluster.x-k8s.io") -> MachineConditions:
    kind = MACHINE if group == MACHINE.group else OPENSHIFT_MACHINE
    tree = {**a_machine_tree(), "apiVersion": f"{group}/{version}", "status": status}
    found = convert(kind, tree).obj.told
    assert isinstance(found, MachineConditions)
    return found


PLACES: list[tuple[str, dict[str, Any], MachineConditions]] = [
    ("v1alpha3", {"conditions": [READY, OLD_TREE]}, MachineConditions(None, (READY_TEXT, OLD))),
    ("v1alpha3", {}, MachineConditions(None, ())),
    ("v1beta1", {"conditions": [OLD_TREE]}, MachineConditions(None, (OLD,))),
    (
        "v1beta1",
        {"conditions": [OLD_TREE], "v1beta2": {"conditions": [READY, NEW_TREE]}},
        MachineConditions((READY_TEXT, NEW), (OLD,)),
    ),
    ("v1beta2", {"conditions": [NEW_TREE]}, MachineConditions((NEW,), None, True)),
    (
        "v1beta2",
        {"conditions": [NEW_TREE], "deprecated": {"v1beta1": {"conditions": [OLD_TREE]}}},
        MachineConditions((NEW,), (OLD,), True),
    ),
    ("v1beta2", {}, MachineConditions((), None, True)),
]


@pytest.mark.parametrize(("version", "status", "told"), PLACES)
def test_each_version_keeps_its_generations_elsewhere(
    version: str, status: dict[str, Any], told: MachineConditions
) -> None:
    """Read by version, ours field by field, those of others as text; a place that nobody used yet is none."""
    assert told == read(version, status)


def test_conditions_of_openshift_are_nobodys_business() -> None:
    """They are judged, but neither kept nor written."""
    assert MachineConditions() == read("v1beta1", {"conditions": [OLD_TREE]}, "machine.openshift.io")


@pytest.mark.parametrize(
    ("version", "current", "older", "status"),
    [
        ("v1alpha3", (NEW,), (READY_TEXT, OLD), {"conditions": [READY, OLD_TREE]}),
        ("v1alpha4", None, (OLD,), {"conditions": [OLD_TREE]}),
        ("v1beta1", (NEW,), (OLD,), {"conditions": [OLD_TREE], "v1beta2": {"conditions": [NEW_TREE]}}),
        ("v1beta1", None, (OLD,), {"conditions": [OLD_TREE]}),
        ("v1beta1", (NEW,), None, {"v1beta2": {"conditions": [NEW_TREE]}}),
        (
            "v1beta2",
            (NEW,),
            (OLD,),
            {"conditions": [NEW_TREE], "deprecated": {"v1beta1": {"conditions": [OLD_TREE]}}},
        ),
        ("v1beta2", (NEW,), None, {"conditions": [NEW_TREE]}),
        ("v1beta2", (), (), {"conditions": [], "deprecated": {"v1beta1": {"conditions": []}}}),
    ],
)
def test_each_version_is_written_where_it_is_read(version: str, current: Any, older: Any, status: Any) -> None:
    """Whole lists; what is None is not named; an empty message is written only where the schema demands it."""
    assert status == conditions_body(current, older, version)


def test_the_request_goes_to_the_status_with_uid_and_version() -> None:
    """A merge patch of the status subresource that another version of the Machine refuses."""
    request = render(WriteMachineConditions(MACHINE_AT, Guard("u", "42"), (NEW,), (OLD,)), 7, RESOURCES)

    assert "/apis/cluster.x-k8s.io/v1beta1/namespaces/metal/machines/worker-0/status" == request.path
    assert {
        "metadata": {"uid": "u", "resourceVersion": "42"},
        "status": {"conditions": [OLD_TREE], "v1beta2": {"conditions": [NEW_TREE]}},
    } == msgspec.json.decode(request.body)


def test_garbage_in_a_condition_of_ours_is_read_as_empty() -> None:
    """So that it differs from what we have to say, and is written anew."""
    item = {**NEW_TREE, "message": 5, "observedGeneration": "x"}

    assert (Graded("OwnerRemediated", "False", "WaitingForRemediation", "", TIME),) == read(
        "v1beta2", {"conditions": [item]}
    ).current


@pytest.mark.parametrize("garbage", ["x", [5], [{"status": "True"}], [{"type": "Ready", "status": 5}]])
@pytest.mark.parametrize("place", ["conditions", "v1beta2"])
def test_a_machine_whose_conditions_cannot_be_judged_is_set_aside(garbage: Any, place: str) -> None:
    """As any other object that does not decode: with its name, and without harm to the others."""
    status = {"conditions": garbage} if place == "conditions" else {place: {"conditions": garbage}}
    with pytest.raises(Undecodable) as refusal:
        read("v1beta1", status)

    assert MACHINE_AT == refusal.value.ref
    assert refusal.value.problem.startswith("status.")


texts = st.text(max_size=6)
gradeds = st.builds(Graded, st.sampled_from(OURS), texts, texts, texts, texts, texts, st.integers(0, 9))
foreigns = st.fixed_dictionaries({"type": texts.filter(lambda name: name not in OURS), "status": texts}).map(
    lambda tree: Foreign(msgspec.json.encode(tree).decode())
)
conditions = st.lists(gradeds | foreigns, max_size=3).map(tuple)


@given(conditions, conditions, st.sampled_from(["v1beta1", "v1beta2"]))
def test_conditions_are_read_back_as_they_were_written(current: Conditions, older: Conditions, version: str) -> None:
    """In every version, or they would be written again and again."""
    dated = conditions_body(current, older, version)
    for body in (dated, dated.get("v1beta2", {}), dated.get("deprecated", {}).get("v1beta1", {})):
        for item in body.get("conditions", []):
            item.pop("lastTransitionTime", None)  # arbitrary words are no times
    told = read(version, dated)

    assert [undated(current), undated(older)] == [undated(told.current), undated(told.older)]


def undated(some: Conditions | None) -> list[Any]:
    return [one if isinstance(one, Foreign) else msgspec.structs.replace(one, since="") for one in some or ()]
