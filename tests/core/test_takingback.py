"""A request that goes takes its word to an owner back; where that is refused for good, it goes all the same."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import MACHINE_AT, NODE_AT, NOW, REMEDIATION_AT, later
from tests.core.fencing import story as fence_stories
from tests.core.fencing.test_escalation import broken
from tests.core.fencing.test_request import BOTH_WORDS, is_gone, owner_word
from tests.core.metal3.test_beginnings import Failing

from noderemedy.core import takingback
from noderemedy.model.actions import Confirm, DeleteNodeFence, Guard, WriteFinalizers, WriteMachineConditions
from noderemedy.model.decision import Decision
from noderemedy.model.ids import FENCE_REMEDIATION, NODE, REMEDIATION
from noderemedy.model.outcome import Effect, Failed, Outcome
from noderemedy.model.reasons import OwnerAskedNoMore, OwnerStillAsked, WaitingForReady
from noderemedy.wire.objects import convert

WORD = WriteMachineConditions(MACHINE_AT, Guard("machine-uid-1", "7"), (), ())
REASON = OwnerAskedNoMore("worker-0")
ACTS = Decision((Confirm(NODE_AT),), (REASON,))
WAITS = Decision((), (WaitingForReady("worker-0"),))
GOES = Decision((WriteFinalizers(REMEDIATION_AT, Guard("uid", "7"), ()),), (WaitingForReady("worker-0"),))


@pytest.mark.parametrize("wanted", [WAITS, GOES])
def test_the_word_goes_before_the_request_does(wanted: Decision) -> None:
    """While it waits, too; for ten minutes. Then a person is told, and it goes."""
    taken_back = Decision((WORD,), (REASON,))
    late = takingback.before_it_goes(wanted, WORD, NOW.mono, later(600), REASON)

    assert taken_back == takingback.before_it_goes(wanted, WORD, None, NOW, REASON)
    assert taken_back == takingback.before_it_goes(wanted, WORD, NOW.mono, later(599), REASON)
    assert (wanted.actions, OwnerStillAsked("worker-0")) == (late.actions, late.because[-1])
    assert wanted == takingback.before_it_goes(wanted, None, None, NOW, REASON)


def test_nothing_else_waits_behind_the_word() -> None:
    """A hold, a taint, a fence go first: the word may be refused for good."""
    assert ACTS == takingback.before_it_goes(ACTS, WORD, NOW.mono, NOW, REASON)


# --- stories -----------------------------------------------------------------------------------------------------

OWN = fence_stories.Story._carry_out


def refused(self: Any, effect: Effect) -> Outcome:
    """A webhook lets nobody write to the status of Machines."""
    if isinstance(effect.action, WriteMachineConditions):
        self.acts.append("refused")
        return Failed("admission webhook denied the request", lasting=True)
    return OWN(self, effect)


def of_metal3() -> Any:
    story = Failing()
    story.attempted(2)
    story.run_until(lambda: story.is_asked, 2_000)
    story.is_dead = False
    story.ready("True", "boot-2")
    story.run(30)
    return story


def of_a_fence() -> Any:
    story = broken()
    story.run_until(lambda: bool(owner_word(story)), 600)
    story.ready("True")
    return story


def is_there(story: Any) -> bool:
    return story.api.find(REMEDIATION, "worker-0", "metal") is not None or not is_gone(story)


@pytest.mark.parametrize(("kind", "begin"), [(REMEDIATION, of_metal3), (FENCE_REMEDIATION, of_a_fence)])
def test_a_request_whose_word_stays_goes_within_a_bound(kind: Any, begin: Any) -> None:
    """For ten minutes it tries; then it goes with an alert, and its place in the budget is free."""
    story = begin()
    story._carry_out = refused.__get__(story)
    story.api.delete(kind, "worker-0", "metal")
    story.run(590)
    early = (is_there(story), "OwnerStillAsked" in story.told)
    story.run(200)

    assert ((True, False), False) == (early, is_there(story))
    assert (True, BOTH_WORDS) == ("OwnerStillAsked" in story.told, owner_word(story))
    assert 5 < story.acts.count("refused") < 20


@pytest.mark.parametrize(("kind", "begin"), [(REMEDIATION, of_metal3), (FENCE_REMEDIATION, of_a_fence)])
def test_a_word_that_is_refused_for_a_while_is_taken_back(kind: Any, begin: Any) -> None:
    """The webhook is mended in time: nothing stays on the Machine, and nobody is called."""
    story = begin()
    story._carry_out = refused.__get__(story)
    story.api.delete(kind, "worker-0", "metal")
    story.run(300)
    del story._carry_out
    story.run(90)

    assert (False, [], False) == (is_there(story), owner_word(story), "OwnerStillAsked" in story.told)


def test_a_gap_is_no_try() -> None:
    """The API is out of reach for eleven minutes just when the request goes: the word is taken back after that."""
    story = of_metal3()
    story._carry_out = lambda effect: Failed("no route to host")
    story.api.delete(REMEDIATION, "worker-0", "metal")
    story.run(1)
    story.engine.lost(NODE, story.now)
    story.engine.listing(NODE, story.now)
    story.run(700)
    del story._carry_out
    for tree in story.api.list(NODE):
        story.engine.seen(convert(NODE, tree), story.now)
    story.engine.listed(NODE, story.now)
    story.run(300)

    assert (False, False, False) == (is_there(story), story.is_asked, "OwnerStillAsked" in story.told)


def test_its_time_begins_when_it_is_its_turn() -> None:
    """The fence of the request is to go first, and that is refused for eleven minutes: then the word is taken back."""

    def refuses(self: Any, effect: Effect) -> Outcome:
        is_first = isinstance(effect.action, DeleteNodeFence)
        return Failed("admission webhook denied the request", lasting=True) if is_first else OWN(self, effect)

    story = of_a_fence()
    story._carry_out = refuses.__get__(story)
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(660)
    del story._carry_out
    story.run(300)

    assert (True, [], False) == (is_gone(story), owner_word(story), "OwnerStillAsked" in story.told)
