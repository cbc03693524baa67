"""Machines in somebody's hands: they count as not healthy until the repair is over, whatever their node says."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import ago
from tests.core.healthcheck.targets import a_target, verdict
from tests.core.healthcheck.test_rooms import AT, Stage, a_check, machine_at, node_at
from tests.core.metal3.remediations import a_remediation

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.model.healthcheck import Count, Healthy, TemplateRef, Unhealthy, Waiting
from noderemedy.model.ids import REMEDIATION, Kind, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import Evidence, Phase
from noderemedy.model.request import ExternalRequest

DOCTOR = Kind("example.com", "Doctor")
REMEDIATION_0, DOCTOR_0 = ref(REMEDIATION, "worker-0", "metal"), ref(DOCTOR, "worker-0", "metal")
BEGUN = Evidence("m0")

TEMPLATE = TemplateRef("example.com/v1", "DoctorTemplate", "house-call", "metal")


@pytest.mark.parametrize(
    ("at", "found", "counts"),
    [
        (REMEDIATION_0, a_remediation(), False),
        (REMEDIATION_0, a_remediation(Phase.WAITING, evidence=BEGUN), False),
        (REMEDIATION_0, a_remediation(Phase.DELETING_MACHINE, evidence=BEGUN, deleting=True), False),
        (REMEDIATION_0, a_remediation(Phase.WAITING, evidence=BEGUN, recovered=True), True),
        (REMEDIATION_0, a_remediation(Phase.FAILED, evidence=BEGUN), True),
        (REMEDIATION_0, a_remediation(Phase.WAITING, evidence=BEGUN, owner_uid="m0"), False),
        (REMEDIATION_0, a_remediation(Phase.WAITING, evidence=BEGUN, owner_uid="another"), True),
        (REMEDIATION_0, a_remediation(Phase.DELETING_MACHINE, evidence=Evidence("of a former one")), True),
        (DOCTOR_0, ExternalRequest("d", owner_uid="m0"), False),
        (DOCTOR_0, ExternalRequest("d", owner_uid="m0", deleting=True), False),
        (DOCTOR_0, ExternalRequest("d", owner_uid="another"), True),
    ],
)
def test_a_request_that_stands_counts(at: Ref, found: Any, counts: bool) -> None:
    """One that is not over keeps its machine out of the healthy ones; when it is gone, the machine is back in."""
    stage = Stage(3, (AT, a_check(max_unhealthy=Count(1), template=TEMPLATE)))
    stage.engine.listing(DOCTOR, stage.now)
    stage.engine.listed(DOCTOR, stage.now)
    stage.engine.followed(DOCTOR, stage.now)
    stage.put(at, found)
    stage.step()
    while_it_stands = stage.gate().gate.is_open
    stage.engine.gone(Seen(at, found.uid, "999", None), stage.now)
    stage.step()

    assert (counts, True) == (while_it_stands, stage.gate().gate.is_open)
    assert isinstance(stage.verdict(0).verdict, Healthy)


def test_a_node_out_of_service_counts() -> None:
    """Ready, but nothing may run there yet."""
    stage = Stage(3, (AT, a_check(max_unhealthy=Count(1))))
    stage.node(0, "True", taints=(OUT_OF_SERVICE,))
    stage.step()
    tainted = stage.gate().gate.is_open
    stage.node(0, "True")
    stage.step()

    assert (False, True) == (tainted, stage.gate().gate.is_open)


def test_a_power_cycle_starts_the_clock_of_the_start_anew() -> None:
    """A machine without its node is waited for from the last attempt on, not from years ago; and not for ever."""
    target = a_target(node_name=None, created=ago(99_999))
    cycled = [replace(target, power_cycled=moment) for moment in (None, ago(60), ago(9_999))]

    assert [Unhealthy, Waiting, Unhealthy] == [type(verdict(one)) for one in cycled]


def test_the_room_takes_the_time_of_the_attempt_from_the_request() -> None:
    """The Node was deleted long ago, the request has tried again just now: the node has its whole time."""
    stage = Stage(1)
    machine = stage.engine.cache.read(machine_at(0)).obj  # type: ignore[union-attr]
    stage.put(machine_at(0), replace(machine, node_deleted_at=ago(9_999)))
    stage.engine.gone(Seen(node_at(0), "n0", "999", None), stage.now)
    stage.step()
    before = type(stage.verdict(0).verdict)
    stage.put(REMEDIATION_0, a_remediation(Phase.POWER_ON, evidence=BEGUN))
    stage.step()

    assert (Unhealthy, Waiting) == (before, type(stage.verdict(0).verdict))
