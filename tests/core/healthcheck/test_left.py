"""Requests of machines that no health check speaks for any more: told on the Machine, and left to their controllers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.core.healthcheck.remediations import CHECK_AT
from tests.core.healthcheck.targets import a_check
from tests.core.healthcheck.test_remediation import Stage, at

from noderemedy.core.healthcheck.remediationview import NAME
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Ref
from noderemedy.model.outcome import Key
from noderemedy.model.reasons import RequestLeft
from noderemedy.model.remediation import Metal3Remediation
from noderemedy.model.selector import Selector

OTHERS = Selector(match_labels=(("role", "of another kind"),))
MADE = {"owner_uid": "m0", "cloned_from": "power-cycle"}


def request_at() -> Ref:
    return Ref("", REMEDIATION, at(0).namespace, at(0).name)


def told(stage: Stage) -> list[str]:
    """What is said of the first machine now."""
    decision = stage.engine.decisions.get(Key(NAME, at(0)))
    return [type(one).__name__ for one in decision.because] if decision else []


def a_stage(request: dict[str, Any]) -> Stage:
    """A manager begins: a machine that no check selects, and a request for it."""
    stage = Stage(replace(a_check(), selector=OTHERS), size=1)
    stage.put(request_at(), Metal3Remediation("request-uid", **request))
    stage.change(0, phase="Running")
    stage.step()
    return stage


@pytest.mark.parametrize(
    ("request_", "machine", "reasons"),
    [
        (MADE, {}, ["RequestLeft"]),
        ({"owner_uid": "m0"}, {}, []),  # a person made it
        ({**MADE, "owner_uid": "of an earlier Machine"}, {}, []),
        ({**MADE, "deleting": True}, {}, []),
        (MADE, {"deleting": True}, []),  # and takes it along
        (MADE, {"cluster_paused": True}, []),  # all of it may be on its way to another cluster, the check first
    ],
)
def test_a_request_that_is_left_is_told(request_: dict[str, Any], machine: dict[str, Any], reasons: list[str]) -> None:
    """One that a check made, for this very Machine, as long as somebody has to see to it; nothing is written."""
    stage = a_stage(request_)
    stage.change(0, **machine)
    stage.step()

    assert (reasons, []) == (told(stage), stage.did)


def test_what_is_left_is_over_when_it_goes() -> None:
    """Also where only the kinds that are watched in any case are known, as after a start."""
    stage = a_stage(MADE)
    assert [REMEDIATION] == [one.kind for one in stage.engine.wanted]
    stage.drop(request_at())
    stage.step()

    assert ([], []) == (told(stage), [one.kind for one in stage.engine.wanted])


def test_a_fence_that_is_left_is_told_with_its_command() -> None:
    """The message names the request and what to do, in words that kubectl understands."""
    stage = a_stage({"owner_uid": "m0"})
    where = Ref("", FENCE_REMEDIATION, at(0).namespace, at(0).name)
    stage.put(where, FenceRemediation("fence-uid", owner_uid="m0", cloned_from="fencing"))
    stage.change(0, phase="Provisioned")
    stage.step()

    (reason,) = stage.engine.decisions[Key(NAME, at(0))].because
    assert RequestLeft("FenceRemediation.node-remedy.dev", "metal", "worker-0") == reason
    assert "kubectl delete fenceremediation.node-remedy.dev worker-0 -n metal" in reason.note()


def test_a_check_that_speaks_for_the_machine_ends_it() -> None:
    """It takes the request back on recovery, or goes on with it."""
    stage = a_stage(MADE)
    stage.edit(selector=Selector(match_labels=(("role", "worker"),)))
    stage.step()

    assert "RequestLeft" not in told(stage)


def test_a_mark_of_a_check_that_cannot_be_understood_stays_beside_it() -> None:
    """An invalid policy changes nothing: who tells of a request that is left takes nothing else away."""
    stage = a_stage(MADE)
    stage.edit(problems=("spec.selector: unreadable",))
    stage.change(0, needs_remediation=True, marked_by=CHECK_AT.name)
    stage.step()

    assert (["RequestLeft"], True) == (told(stage), stage.machine(0).needs_remediation)
