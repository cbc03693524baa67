"""What rooms tell on a Machine: both generations, foreign words kept, and no write when all is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NOW, a_machine, a_node, later, present

from noderemedy.core.conditions import along, ask_owner, in_current, in_older, is_said, taken_back, write
from noderemedy.model.actions import Guard, WriteMachineConditions
from noderemedy.model.checkstatus import Foreign
from noderemedy.model.machineconditions import (
    EXTERNALLY_REMEDIATED,
    HEALTH_CHECK_SUCCEEDED,
    OWNER_REMEDIATED,
    WARNING,
    Conditions,
    Graded,
    MachineConditions,
)
from noderemedy.model.time import Now

OTHER = Foreign('{"type":"InfrastructureReady","status":"True"}')
SICK = Graded(HEALTH_CHECK_SUCCEEDED, "False", "NodeDeleted", "gone", severity=WARNING)
WELL = Graded(HEALTH_CHECK_SUCCEEDED, "True", "HealthCheckSucceeded")
OWNED = Graded(OWNER_REMEDIATED, "False", "WaitingForRemediation", "", "2030-01-01T00:00:00Z", WARNING, 3)
TIME = str(NOW.wall)
BOTH = MachineConditions((OTHER,), (OTHER, OWNED))


def written(
    told: MachineConditions,
    *wanted: Graded,
    dropped: tuple[str, ...] = (),
    both: bool = True,
    now: Now = NOW,
) -> WriteMachineConditions | None:
    machine = replace(a_machine(), told=told)
    return write(MACHINE_AT, present(machine, version="7"), wanted, now, dropped=dropped, both=both)


def after(told: MachineConditions, action: WriteMachineConditions) -> MachineConditions:
    """What the API says after this write: a generation without a place is forgotten."""
    current = action.current if told.current is not None and action.current is not None else told.current
    older = action.older if told.older is not None and action.older is not None else told.older
    return replace(told, current=current, older=older)


def test_both_generations_say_the_same_in_their_own_words() -> None:
    """The older one has its own names and a severity; what others said stays in its place."""
    action = written(BOTH, SICK)

    assert action is not None
    assert Guard("machine-uid-1", "7") == action.guard
    assert (OTHER, replace(SICK, severity="", since=TIME)) == action.current
    assert (OTHER, OWNED, replace(SICK, reason="NodeNotFound", since=TIME)) == action.older


def test_what_is_well_needs_no_words_in_the_older_generation() -> None:
    """As its owner writes it: no reason, no severity."""
    action = written(BOTH, WELL)

    assert action is not None
    assert (OTHER, OWNED, Graded(HEALTH_CHECK_SUCCEEDED, "True", since=TIME)) == action.older


@pytest.mark.parametrize(
    ("told", "names"),
    [
        (MachineConditions((), (), is_current=True), ("current",)),
        (MachineConditions((), ()), ("older",)),
        (MachineConditions(None, ()), ("older",)),
    ],
)
def test_one_generation_is_that_of_the_object_itself(told: MachineConditions, names: tuple[str, ...]) -> None:
    """Where only one is written it is `status.conditions`, whichever generation that is."""
    action = written(told, SICK, both=False)

    assert action is not None
    assert names == tuple(name for name in ("current", "older") if getattr(action, name) is not None)


def test_a_time_changes_with_its_status_only() -> None:
    """Another message keeps the time, another status has a new one."""
    old = replace(SICK, severity="", since="2030-01-01T00:00:00Z")
    told = MachineConditions((old,), None, is_current=True)

    for wanted, since in ((replace(SICK, message="still gone"), old.since), (WELL, TIME)):
        action = written(told, wanted)
        assert action is not None
        assert action.current is not None
        assert [since] == [one.since for one in action.current if isinstance(one, Graded)]


def test_only_what_is_dropped_goes() -> None:
    """The owner's own word is not ours to take back."""
    told = MachineConditions(None, (OWNED, replace(SICK, since="t")))
    kept, gone = written(told, WELL), written(told, WELL, dropped=(OWNER_REMEDIATED,))

    assert kept is not None
    assert gone is not None
    assert kept.older is not None
    assert OWNED in kept.older
    assert (Graded(HEALTH_CHECK_SUCCEEDED, "True", since=TIME),) == gone.older


def test_a_generation_without_a_place_is_written_along_but_is_no_reason() -> None:
    """An API server that does not know it forgets it, and would be told again and again."""
    told = MachineConditions(None, ())
    first = written(told, SICK)

    assert first is not None
    assert (replace(SICK, severity="", since=TIME),) == first.current
    assert None is written(after(told, first), SICK, now=later(60))


def test_what_has_no_place_for_conditions_is_told_nothing() -> None:
    """OpenShift's Machines: nothing is ever written."""
    assert None is written(MachineConditions(), SICK)


# --- the word to an owner ----------------------------------------------------------------------------------------

WORD = Graded(OWNER_REMEDIATED, "False", "WaitingForRemediation", "it did not help", severity=WARNING)
ALONG = along(WORD)
READY = a_node(ready="True")


def in_both(*words: Graded) -> MachineConditions:
    dated = tuple(replace(one, since=TIME) for one in words)
    return MachineConditions(tuple(map(in_current, dated)), tuple(map(in_older, dated)), is_current=True)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (MachineConditions((), ()), [OWNER_REMEDIATED, HEALTH_CHECK_SUCCEEDED]),
        (MachineConditions((OTHER,), None, is_current=True), [OWNER_REMEDIATED, HEALTH_CHECK_SUCCEEDED]),
        (MachineConditions(None, ()), [OWNER_REMEDIATED, HEALTH_CHECK_SUCCEEDED]),
        (in_both(SICK), [OWNER_REMEDIATED]),
        (in_both(WELL), [OWNER_REMEDIATED]),
        (MachineConditions((), (in_older(SICK),), is_current=True), [OWNER_REMEDIATED]),
        (MachineConditions((in_current(SICK),), ()), [OWNER_REMEDIATED]),
    ],
)
def test_an_owner_is_told_that_the_machine_is_sick_where_nobody_says_how_it_is(
    told: MachineConditions, expected: list[str]
) -> None:
    """Current owners act on both words; what a health check says, in either generation, is not ours to change."""
    action = ask_owner(MACHINE_AT, present(replace(a_machine(), told=told), version="7"), WORD, NOW)
    assert action is not None
    for known, found in ((told.current, action.current), (told.older, action.older)):
        new = [one for one in found or () if isinstance(one, Graded) and one not in (known or ())]
        assert expected == [one.type for one in new]
        assert all(one.status == "False" and one.reason and one.message for one in new)


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((WORD, ALONG), ()),
        ((WORD,), ()),
        ((ALONG,), ()),
        ((WORD, SICK), (SICK,)),
        ((WORD, WELL), (WELL,)),
        ((OWNED, ALONG), (OWNED,)),
    ],
)
def test_what_was_said_along_is_taken_back_with_the_word(words: tuple[Graded, ...], left: tuple[Graded, ...]) -> None:
    """Or alone, where the owner has answered for itself; what a health check has said since is its own."""
    entry = present(replace(a_machine(), told=in_both(*words)), version="7")
    action = taken_back(MACHINE_AT, entry, READY, WORD, NOW)

    assert action is not None
    assert (in_both(*left).current, in_both(*left).older) == (action.current, action.older)


@pytest.mark.parametrize(
    "told",
    [in_both(SICK), in_both(OWNED, WELL), in_both(along(replace(WORD, message="of another"))), MachineConditions()],
)
def test_what_is_not_ours_is_not_taken_back(told: MachineConditions) -> None:
    """Neither a check's word, nor an owner's, nor that of a request of another kind."""
    assert None is taken_back(MACHINE_AT, present(replace(a_machine(), told=told), version="7"), READY, WORD, NOW)


ASKED = Graded(OWNER_REMEDIATED, "False", "WaitingForRemediation", "it did not help")
DELETING = replace(ASKED, reason="MachineDeleting", message="Machine is deleting")
DONE = Graded(OWNER_REMEDIATED, "True", "")


@pytest.mark.parametrize(
    ("current", "older", "expected"),
    [
        ((ASKED,), (ASKED,), True),
        ((DELETING,), (DELETING,), True),
        ((DELETING,), (DONE,), True),  # Cluster API's owners, for the moments before the Machine goes
        ((DELETING,), (), True),
        ((ASKED,), (DONE,), False),
        ((ASKED,), (), False),
        ((ASKED,), None, True),
        ((OTHER,), (OTHER,), False),
        (None, (DONE,), False),
        (None, None, False),
    ],
)
def test_an_owner_is_asked_once(current: Conditions | None, older: Conditions | None, expected: bool) -> None:
    """In every generation; who has answered in one in words of its own was asked, whatever it says in the other."""
    assert expected == is_said(MachineConditions(current, older), ASKED)


# --- properties --------------------------------------------------------------------------------------------------

types = st.sampled_from([HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED, EXTERNALLY_REMEDIATED])
words = st.sampled_from(["", "a", "b"])
gradeds = st.builds(
    Graded, types, st.sampled_from(["True", "False"]), words, words, st.sampled_from(["t1", "t2"]), words
)


def lists(with_foreign: bool = True) -> st.SearchStrategy[Conditions]:
    several = st.lists(gradeds, unique_by=lambda one: one.type, max_size=3)
    foreign = st.lists(st.just(OTHER), max_size=1) if with_foreign else st.just([])
    return st.tuples(foreign, several).map(lambda both: (*both[0], *both[1]))


tolds = st.builds(MachineConditions, st.none() | lists(), st.none() | lists(), st.booleans())


@given(tolds, lists(with_foreign=False), st.lists(types, max_size=2).map(tuple), st.booleans())
def test_said_once_it_is_not_written_again(
    told: MachineConditions, wanted: tuple[Graded, ...], dropped: tuple[str, ...], both: bool
) -> None:
    """After the write nothing is left to write, at any later time, and what others said is all there."""
    action = written(told, *wanted, dropped=dropped, both=both)
    if action is None:
        return
    then = after(told, action)

    assert None is written(then, *wanted, dropped=dropped, both=both, now=later(3_600))
    for before, behind in ((told.current, then.current), (told.older, then.older)):
        assert [one for one in before or () if isinstance(one, Foreign)] == [
            one for one in behind or () if isinstance(one, Foreign)
        ]
