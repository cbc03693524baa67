"""A node that was heard long after its plugs went off hangs on other plugs, also if no manager looked meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NOW, a_host, a_node, ago, later, present
from tests.core.fencing.fences import UID, a_job, a_plan, an_agent, done
from tests.core.fencing.story import Story, obeys
from tests.core.fencing.test_told import running

from noderemedy.core.fencing import emptying, outliving
from noderemedy.core.fencing.fence import decide
from noderemedy.core.fencing.hosts import HostSeen
from noderemedy.core.fencing.results import NOT_BEGUN
from noderemedy.model.actions import PublishFenceStatus
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, FencePlan
from noderemedy.model.host import Hold
from noderemedy.model.host import Power as HostPower
from noderemedy.model.node import Condition, Node
from noderemedy.model.nodefence import FenceEvidence, State
from noderemedy.model.proof import FencedOff, PoweredOff
from noderemedy.model.run import Deed, Order, Power, Run, RunState
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.model.workload import POD

HOST_POWER = a_plan(power_management=(BuiltinMethod("host-power", Builtin.HOST_POWER),))
HOUR = 3_600


def a_story(plan: FencePlan | None, **more: Any) -> Story:
    """A sick node that reports is to be fenced."""
    story = Story(plan, **more)
    if plan is HOST_POWER:
        story.bare_metal()
        story.plugs = {"host": True}
    story.pods("db-0")
    story.ready("False")
    story.run(65)
    story.ask(stepRetries=5)
    return story


def was_ordered(story: Story) -> bool:
    return bool(story.orders) or (story.has_host and not story.plugs["host"])


def was_heard(story: Story) -> bool:
    return story.status.evidence.heard_since is not None


@pytest.mark.parametrize("plan", [None, HOST_POWER])
@pytest.mark.parametrize("before", [was_ordered, was_heard])
@pytest.mark.parametrize("is_heard_at_the_end", [False, True])
def test_who_was_heard_long_after_its_power_off_is_not_freed(
    plan: FencePlan | None, before: Any, is_heard_at_the_end: bool
) -> None:
    """Its plug is another machine's; it reported for an hour in which no manager looked, and hangs by now."""
    story = a_story(plan)
    story.is_wired_right = False
    story.run_until(lambda: before(story), 900)
    story.after(HOUR + 30 if is_heard_at_the_end else HOUR - 20, story.hang)
    story.unattended(HOUR)
    story.run(900)

    assert ("error", [], 1) == (story.state, story.freed_early, len(story.api.list(POD)))
    assert ("PlugContradicted" in story.told, any(story.plugs.values())) == (True, True)


@pytest.mark.parametrize("plan", [None, HOST_POWER])
@pytest.mark.parametrize("before", [was_ordered, was_heard])
def test_who_fell_silent_with_its_plug_is_freed_by_whoever_comes(plan: FencePlan | None, before: Any) -> None:
    """No manager for an hour: it was off all the time, and Kubernetes had noticed."""
    story = a_story(plan)
    story.run_until(lambda: before(story), 900)
    story.unattended(HOUR)
    story.run_until(story.is_final, 1_800)

    assert ([], [], False) == (story.freed_early, story.api.list(POD), "PlugContradicted" in story.told)


def test_a_plug_that_goes_off_late_contradicts_nobody() -> None:
    """The second supply went off twenty minutes after the first: until then the node was heard."""

    def late(story: Story, order: Order) -> tuple[RunState, Power, str]:
        if order.deed is Deed.OFF and len(story.orders) == 2:
            return RunState.FAILED, Power.ON, "busy"
        return obeys(story, order)

    both = a_plan(power_management=(an_agent(), an_agent("pdu", agent="fence_apc")))
    story = a_story(both, plugs=("fence_ipmilan", "fence_apc"))
    story.devices["fence_apc"] = late
    story.run_until(lambda: len(story.orders) == 2, 900)
    story.unattended(1_200)
    story.run_until(story.is_final, 1_800)

    assert (0, []) == (story.status.restarts, story.freed_early)
    assert ([], False) == (story.api.list(POD), "PlugContradicted" in story.told)


# --- from when it is counted ------------------------------------------------------------------------------------

OFF = done(since=ago(HOUR))  # it has 210 s for that: to begin, for its device, and to spare
LAST = done(since=ago(1_800), id="fence-2", attempt=1)
FAILED = replace(LAST, state=RunState.FAILED, power=Power.UNKNOWN, said="timed out")
NEVER = replace(LAST, state=RunState.FAILED, power=Power.UNKNOWN, said=f"{NOT_BEGUN}: the fence was called off")
ASKED = done(deed=Deed.STATUS, id="fence-3", since=ago(60))


def heard_since(seconds: float) -> FenceEvidence:
    return FenceEvidence(heard_since=ago(seconds), off_at=ago(HOUR * 2))


@pytest.mark.parametrize(
    ("jobs", "evidence", "expected"),
    [
        ((OFF,), FenceEvidence(), ago(3_390)),
        ((OFF,), FenceEvidence(off_at=ago(HOUR * 2)), ago(3_390)),  # of an earlier flow of this boot
        ((OFF, ASKED), FenceEvidence(), ago(3_390)),
        ((OFF,), heard_since(3_580), ago(3_580)),  # all was off by then
        ((OFF,), heard_since(60), ago(3_390)),  # nobody had looked before
        ((OFF, LAST), FenceEvidence(), ago(1_590)),
        ((OFF, LAST), heard_since(3_580), ago(1_590)),  # it was switched off once more after that
        ((OFF, LAST), heard_since(1_700), ago(1_700)),
        ((OFF, FAILED), FenceEvidence(), ago(1_590)),  # it may have gone off by that
        ((OFF, NEVER), FenceEvidence(), ago(3_390)),
        ((replace(OFF, is_remembered=True),), FenceEvidence(), None),  # somebody may have lit it meanwhile
        ((replace(OFF, is_remembered=True),), heard_since(60), ago(60)),
        ((replace(OFF, patience=Span.seconds(1_200)),), FenceEvidence(), ago(2_310)),
    ],
)
def test_it_is_counted_from_the_last_power_off_of_this_flow(
    jobs: Any, evidence: FenceEvidence, expected: Wall | None
) -> None:
    """At the latest that it can have been: a device that took its time calls nobody."""
    assert expected == outliving.off_by(running(*jobs, evidence=evidence))


@pytest.mark.parametrize(("held", "expected"), [(3_590, 3_390), (1_800, 1_620)])
def test_a_host_goes_off_after_it_is_held(held: int, expected: int) -> None:
    """Another repair may have kept us from it for long."""
    hold = Hold("machine-uid-1", ago(held))
    view = running(a_job("host-power", since=ago(HOUR)))
    host = replace(a_host(), fenced_for=((UID, hold), ("another", Hold("machine-uid-1", ago(5)))))
    seen = replace(view, host=HostSeen(None, replace(view.entry, obj=host), True))

    assert ago(expected) == outliving.off_by(seen)


def silent(since: Wall, **more: Any) -> Node:
    return replace(a_node(ready="Unknown", **more), conditions=(Condition("Ready", "Unknown", since),))


@pytest.mark.parametrize(
    ("node", "is_contradicted"),
    [
        (silent(ago(3_390 - 900)), False),  # ten minutes until it is noticed, clocks that differ by five
        (silent(ago(3_390 - 901)), True),
        (silent(later(301).wall), False),  # tells no time
        (silent(ago(60), boot_id="boot-2"), False),
        (silent(ago(60), uid="node-uid-2"), False),
    ],
)
def test_a_silence_that_began_too_late_contradicts_the_plug(node: Node, is_contradicted: bool) -> None:
    """Only that of the boot that was switched off; nothing is freed, and the flow is not repeated."""
    view = running(OFF, node=node)
    written = [one.status for one in decide(view, NOW).actions if isinstance(one, PublishFenceStatus)]
    ended = [(one.state, one.restarts) for one in written if one.restarts]

    assert ([(State.ERROR, view.fence.spec.max_restarts)] if is_contradicted else []) == ended


def test_it_is_called_so_on_a_live_read_only() -> None:
    """What is told then is not taken back: a server that lags must not say it."""
    view = running(OFF, node=silent(ago(60)))
    by_a_list = replace(view, node_entry=replace(view.node_entry, confirmed_at=None))
    told = [[type(one).__name__ for one in decide(one, NOW).because] for one in (by_a_list, view)]

    assert [["ConfirmFirst"], ["PlugContradicted"]] == told


@pytest.mark.parametrize(("since", "is_proof"), [(ago(3_390 - 900), True), (ago(3_390 - 901), False)])
def test_no_proof_says_that_it_was_off(since: Wall, is_proof: bool) -> None:
    """Neither that of its plug nor that of its host, whoever asks for it."""
    answer = Run(ASKED.id, RunState.DONE, Power.OFF, begun=Mono(NOW.mono.ms - 5_000))
    by_plug = running(OFF, ASKED, node=silent(since), runs=(answer,))
    held = replace(a_host(), power=HostPower.OFF, fenced_for=((UID, Hold("machine-uid-1", ago(3_590))),))
    seen = replace(running(OFF, node=silent(since)), host=HostSeen(HOST_AT, present(held), True))
    by_host = replace(seen, plan=HOST_POWER)
    proofs = [emptying.proof_for(view, NOW) for view in (by_plug, by_host)]

    assert [is_proof, is_proof] == [isinstance(one, FencedOff | PoweredOff) for one in proofs]
