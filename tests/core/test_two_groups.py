"""Machines of both groups may share a name: what is about one of them says nothing about the other."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NOW, REMEDIATION_AT, ago
from tests.core.fencing.fences import FENCE_AT, a_fence
from tests.core.fencing.test_escalation import REQUEST_AT
from tests.core.metal3.remediations import a_remediation

from noderemedy.core.fencing import requestview, view
from noderemedy.core.metal3 import remediationview
from noderemedy.engine.cache import Cache
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import OPENSHIFT_MACHINE, Ref
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import Phase

CLUSTER_API, OPENSHIFT = "cluster.x-k8s.io/v1beta1", "machine.openshift.io/v1beta1"


def a_cache(at: Ref, obj: object) -> Cache:
    """A cache with one object."""
    cache = Cache((*remediationview.INDEXES, *requestview.INDEXES, *view.INDEXES))
    cache.put(Seen(at, "", "1", obj), NOW.mono)
    return cache


def first(at: Ref) -> Ref:
    return replace(at, name="first")


def owner(version: str) -> ControllerOwner:
    return ControllerOwner(version, "Machine", MACHINE_AT.name, "uid-of-it")


@pytest.mark.parametrize(("version", "is_rival"), [(CLUSTER_API, True), (OPENSHIFT, False)])
def test_a_metal3_remediation_of_the_other_machine_is_no_rival(version: str, is_rival: bool) -> None:
    """It has begun, and would go first."""
    other = a_remediation(Phase.POWER_OFF, uid="uid-first", owner=owner(version))
    cache = a_cache(first(REMEDIATION_AT), other)

    assert is_rival == bool(remediationview.rival_of(REMEDIATION_AT, a_remediation(), MACHINE_AT, cache))


@pytest.mark.parametrize(("version", "is_rival"), [(CLUSTER_API, True), (OPENSHIFT, False)])
def test_a_fence_remediation_of_the_other_machine_is_no_rival(version: str, is_rival: bool) -> None:
    """It is the older one."""
    young = FenceRemediation("request-uid-1", created=NOW.wall)
    cache = a_cache(first(REQUEST_AT), FenceRemediation("request-uid-0", created=ago(60), owner=owner(version)))

    assert is_rival == bool(requestview.rival_of(REQUEST_AT, young, MACHINE_AT, cache))


def test_a_fence_is_found_by_a_machine_of_either_group() -> None:
    """Which of them it was is not on record: by each of the two, once, and by no other name."""
    asked_by = f"FenceRemediation/{MACHINE_AT.namespace}/request 1"
    fence = a_fence(State.RUNNING, requested_by=asked_by, evidence=FenceEvidence(machine=MACHINE_AT.name))
    cache = a_cache(FENCE_AT, fence)
    candidates = (MACHINE_AT, replace(MACHINE_AT, kind=OPENSHIFT_MACHINE), replace(MACHINE_AT, name="another"))

    assert [[FENCE_AT], [FENCE_AT], []] == [list(view.wakes(at, None, cache)) for at in candidates]
