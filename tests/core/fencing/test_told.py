"""What people are told about a fence: each reason where it belongs, with words that name the node and the remedy."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago
from tests.core.fencing.fences import FENCE_AT, IPMI, a_fence, a_job, a_plan, done
from tests.core.fencing.test_gates import a_view
from tests.core.fencing.test_rules import seen
from tests.core.fencing.test_story import is_gone, sick

from noderemedy.core.fencing.fence import decide
from noderemedy.model.fenceplan import plan_ref
from noderemedy.model.kdump import KdumpSeen
from noderemedy.model.meta import Malformed
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.reasons import FenceStepEnded
from noderemedy.model.run import Deed, Power, Run, RunState, run_ref
from noderemedy.model.time import Mono, Span
from noderemedy.model.workload import POD

SILENT = a_node(ready="Unknown", unschedulable=True)


def reasons(view: Any) -> list[str]:
    return [type(reason).__name__ for reason in decide(view, NOW).because]


def words(view: Any) -> list[str]:
    return [reason.note() for reason in decide(view, NOW).because]


def running(*jobs: Any, node: Any = SILENT, runs: tuple[Run, ...] = (), **more: Any) -> Any:
    """A fence in power management with these runs."""
    objects = {FENCE_AT: a_fence(State.RUNNING, jobs=jobs, **more), NODE_AT: node, plan_ref(NODE_AT): a_plan()}
    return seen({**objects, **{run_ref(run.id): run for run in runs}})


def known_for(view: Any, seconds: int) -> Any:
    entry = replace(view.entry, changed_at=Mono(NOW.mono.ms - seconds * 1_000))
    return replace(view, entry=entry)


OFF = done("ipmi", Deed.OFF)
OPEN = a_job(state=RunState.RUNNING)
ASKED = a_job(deed=Deed.STATUS, state=RunState.RUNNING)
CASES: list[tuple[Any, list[str]]] = [
    (running(), ["RunOrdered"]),
    (running(OPEN), ["RunUnderWay"]),
    (running(OPEN, runs=(Run(OPEN.id, RunState.RUNNING),)), ["RunUnderWay"]),
    (running(OPEN, runs=(Run(OPEN.id, RunState.FAILED, said="refused"),)), ["RunNoted"]),
    (running(OPEN, runs=(Run(OPEN.id, RunState.DONE, Power.OFF),)), ["RunEnded"]),
    (running(ASKED, runs=(Run(ASKED.id, RunState.DONE, Power.OFF),)), ["RunNoted"]),
    (running(OPEN, deleting=True, runs=(Run(OPEN.id, RunState.FAILED, said="refused"),)), ["RunEnded"]),
    (running(OPEN, stopped=True, runs=(Run(OPEN.id, RunState.FAILED, said="refused"),)), ["RunEnded"]),
    (
        a_view(fence=a_fence(State.ERROR, jobs=(OPEN,)), node=SILENT, runs=(Run(OPEN.id, RunState.FAILED),)),
        ["RunEnded"],
    ),
    (running(replace(OPEN, token=6)), ["RunLost"]),
    (known_for(running(replace(OPEN, since=ago(900))), 900), ["RunNoted"]),
    (known_for(running(replace(OPEN, since=ago(900))), 100), ["RunLost"]),
    (running(OFF, node=a_node()), ["NodeStillHeard"]),
    (running(OFF, node=a_node(), evidence=FenceEvidence(heard_since=ago(60))), ["NodeStillHeard"]),
    (known_for(running(OFF, node=a_node(), evidence=FenceEvidence(heard_since=ago(600))), 600), ["PlugContradicted"]),
    (
        known_for(running(OFF, evidence=FenceEvidence(freeing_since=ago(600))), 600),
        ["FenceFreeingOverdue", "PowerComesBack"],
    ),
    (running(OFF, evidence=FenceEvidence(freed_at=ago(6))), ["PowerComesBack"]),
    (running(attested=Malformed("no JSON")), ["RunOrdered", "AttestationUnreadable"]),
    (a_view(fence=a_fence(State.NEW), node=a_node(ready="Unknown")), ["CordoningNode"]),
    (a_view(fence=a_fence(State.NEW), node=SILENT), ["FenceStepEnded", "FenceMoves"]),
    (known_for(a_view(fence=a_fence(State.FINAL, since=ago(4_000))), 4_000), ["FenceExpires"]),
    (known_for(a_view(fence=a_fence(State.FINAL, since=ago(4_000))), 60), ["FenceDelayed"]),
    (
        a_view(fence=a_fence(State.DONE, boot_id="boot-0"), node=a_node()),
        ["FenceSucceeded", "FenceStepEnded", "FenceMoves"],
    ),
    (
        a_view(
            fence=a_fence(State.DONE, boot_id="boot-0"),
            node=a_node(unschedulable=True, annotations={"node-remedy.dev/cordoned": "node-remedy"}),
        ),
        ["UncordoningNode"],
    ),
    (a_view(fence=a_fence(deleting=True)), ["FenceReleased"]),
]


@pytest.mark.parametrize(("view", "expected"), CASES, ids=lambda case: "-".join(case) if isinstance(case, list) else "")
def test_what_is_told_where(view: Any, expected: list[str]) -> None:
    """One reason, or two, for each thing that is done or waited for; each is one sentence."""
    assert expected == reasons(view)
    assert all(words(view))


CALLED_ON = a_job(id="fence-2", deed=Deed.STATUS, state=RunState.FAILED, power=Power.ON)
CALLED_OFF = replace(CALLED_ON, state=RunState.DONE, power=Power.OFF)
LOST = a_job(state=RunState.FAILED, said="nobody knows what became of it")


@pytest.mark.parametrize(
    ("jobs", "is_patient"), [((), True), ((LOST,), False), ((LOST, CALLED_ON), True), ((LOST, CALLED_OFF), False)]
)
def test_a_power_off_that_did_not_go_through_waits_for_a_dump(jobs: tuple[Any, ...], is_patient: bool) -> None:
    """Its device is on, and the node dumps its memory since: it was switched off in the middle of that (seed 379)."""
    dump = KdumpSeen(NODE_AT, Mono(NOW.mono.ms - 100_000), Mono(NOW.mono.ms - 5_000))
    plan, fence = a_plan(kdump_within=Span.seconds(600)), a_fence(State.RUNNING, jobs=jobs)

    assert is_patient == (["KdumpUnderWay"] == reasons(a_view(fence=fence, node=SILENT, plan=plan, kdump=dump)))


@pytest.mark.parametrize(
    ("view", "step", "outcome"),
    [
        (a_view(fence=a_fence(State.NEW, since=ago(7)), node=SILENT), "isolation", "done"),
        (a_view(fence=a_fence(State.NEW, since=ago(7)), node=a_node()), "isolation", "not needed"),
        (running(a_job(state=RunState.FAILED), since=ago(7)), "power-management", "failed"),
        (a_view(fence=a_fence(State.DONE, since=ago(7), boot_id="boot-0"), node=a_node()), "recovery", "done"),
        (a_view(fence=a_fence(State.DONE, since=ago(7)), node=SILENT), "recovery", ""),
    ],
)
def test_every_end_of_a_step_is_counted_with_its_beginning(view: Any, step: str, outcome: str) -> None:
    """Figures need the step, how it ended and how long it took; one that goes on is not counted."""
    ended = [one for one in decide(view, NOW).because if isinstance(one, FenceStepEnded)]

    assert ([FenceStepEnded(view.name, step, outcome, ago(7))] if outcome else []) == ended


def test_the_proof_is_told_with_its_evidence() -> None:
    """Which methods said off, in which runs."""
    status = replace(done("ipmi", Deed.STATUS), id="fence-status")
    answer = Run("fence-status", RunState.DONE, Power.OFF, begun=Mono(NOW.mono.ms - 5_000))
    view = running(OFF, status, runs=(answer,))

    assert ["ProvenFenced"] == reasons(view)
    assert "FencedOff by ipmi at" in words(view)[0]
    assert "runs fence-status" in words(view)[0]


def test_what_stays_off_is_told() -> None:
    """A fence that was given up while a plug does not come on calls a person for both."""
    failed = [a_job(deed=Deed.ON, state=RunState.FAILED, attempt=number, id=f"fence-{number}") for number in range(3)]
    fence = a_fence(State.ERROR, restarts=3, jobs=(OFF, *failed))
    view = seen({FENCE_AT: fence, NODE_AT: SILENT, plan_ref(NODE_AT): a_plan()})

    assert ["FenceGivenUp", "PowerLeftOff"] == reasons(view)
    assert IPMI.name in words(view)[1]


def test_a_whole_story_is_told() -> None:
    """The events of one story from the request to the end."""
    story = sick()
    story.run_until(lambda: story.state == "final", 300)
    story.api.delete(FENCE_AT.kind, FENCE_AT.name)
    story.run(3)

    assert is_gone(story)
    assert {"FenceMoves", "RunEnded", "ProvenFenced", "FenceSucceeded", "FenceReleased"} <= set(story.told)
    assert [] == story.api.list(POD)
