"""What people are told: reasons on change only, complaints once, unreadable objects once until they are mended."""

from __future__ import annotations

from itertools import count
from typing import Any

from msgspec.structs import replace
from tests.builders import NOW, later
from tests.engine.bench import (
    TOKEN,
    WHY,
    A,
    B,
    a_room,
    a_seen,
    an_engine,
    done,
    drop,
    idle,
    only_effect,
    step,
    want,
)

from noderemedy.engine.loop import Engine
from noderemedy.engine.telling import OVER_MAX, Notice, Telling
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.ids import NODE, Ref, ref
from noderemedy.model.outcome import Done, Failed, Key, Seen, Unknown
from noderemedy.model.reasons import (
    ActionFailed,
    ActionRefused,
    BackupUnreadable,
    ClusterPaused,
    ConfirmFirst,
    ListingWorkload,
    NodeOverdue,
    ObjectUnreadable,
    Reason,
    TooManyUnhealthy,
    WaitingForBudget,
)
from noderemedy.model.room import Present, Reader, Unreadable
from noderemedy.model.time import Now


def reasons(notices: tuple[Notice, ...]) -> list[Reason]:
    return [notice.reason for notice in notices]


def by_label(view: Any, now: Now) -> Decision:
    """Reasons by the node's labels, none without one."""
    labels = dict(view[1].labels)
    told = tuple(reason for name, reason in (("a", WHY), ("b", ClusterPaused())) if name in labels)
    return Decision(because=told, episode="episode-1") if told else NOTHING


# --- reasons -------------------------------------------------------------------------------------------------


def test_a_reason_is_told_once() -> None:
    """A reason that stays is not repeated; a new one beside it is told alone; one that comes back is told again."""
    engine = an_engine(a_room(by_label))
    told = []
    for version, labels in enumerate(["a", "ab", "ab", "b", "", "b"], start=1):
        engine.seen(a_seen(version=str(version), labels={**dict.fromkeys(labels, ""), "v": str(version)}), NOW)
        told.append(reasons(step(engine).notices))

    assert [[WHY], [ClusterPaused()], [], [], [], [ClusterPaused()]] == told


def test_what_is_passing_is_no_news() -> None:
    """A count that goes on changing is told once, with the count of that moment; what stands beside it is news."""
    answers = [TooManyUnhealthy(3, 9, "2"), TooManyUnhealthy(4, 9, "2"), TooManyUnhealthy(4, 8, "3"), WHY]
    answers.append(TooManyUnhealthy(4, 8, "3"))
    decisions = iter(answers)
    engine = an_engine(a_room(lambda view, now: Decision(because=(next(decisions),))))
    told = []
    for version in range(1, 6):
        engine.seen(a_seen(version=str(version), labels={"v": str(version)}), NOW)
        told.append(reasons(step(engine).notices))

    assert [[answers[0]], [], [answers[2]], [WHY], [answers[2]]] == told


def test_a_look_in_between_makes_nothing_new() -> None:
    """Who has to read live, or to ask the budget, before each try says the same once, not once per try."""
    looks = (ConfirmFirst("n"), ListingWorkload("n"), WaitingForBudget())
    answers = iter([WHY, *looks, WHY, ClusterPaused(), WHY])
    engine = an_engine(a_room(lambda view, now: Decision(because=(next(answers),))))
    told = []
    for version in range(1, 8):
        engine.seen(a_seen(version=str(version), labels={"v": str(version)}), NOW)
        told.append(reasons(step(engine).notices))

    assert [[WHY], [], [], [], [], [ClusterPaused()], [WHY]] == told


def test_a_notice_says_about_whom() -> None:
    """Room, object, uid and episode: enough for an event whose name is the same after a restart."""
    engine = an_engine(a_room(by_label))
    engine.seen(a_seen(labels={"a": ""}), NOW)

    assert (Notice("test", A, "uid", WHY, "episode-1"),) == step(engine).notices


# --- what comes back -----------------------------------------------------------------------------------------


def told_again(engine: Engine, *labels: str, token: int = TOKEN) -> list[list[bool]]:
    """Whether what is told after each of these changes of A came back."""
    found = []
    for some in labels:
        version = str(next(VERSIONS))
        engine.seen(a_seen(version=version, labels={**dict.fromkeys(some, ""), "v": version}), NOW)
        found.append([notice.again for notice in step(engine, token=token).notices])
    return found


VERSIONS = count(1)


def test_what_was_over_comes_again() -> None:
    """Told, over, told again: it came back, whether anything else stood meanwhile or not; each time it does."""
    assert [[False], [], [True], [], [True]] == told_again(an_engine(a_room(by_label)), "a", "", "a", "", "a")
    assert [[False], [False], [True], [True]] == told_again(an_engine(a_room(by_label)), "a", "b", "a", "b")


def test_the_first_word_of_a_leader_is_no_return() -> None:
    """Who begins to lead says what the one before may have said; only an end that it has seen itself counts."""
    engine = an_engine(a_room(by_label))
    first = told_again(engine, "a", "", "b")
    second = told_again(engine, "a", token=TOKEN + 1)

    assert ([[False], [], [False]], [[False]]) == (first, second)
    assert [[], [True]] == told_again(engine, "", "a", token=TOKEN + 1)


def test_an_end_of_what_another_leader_told_counts() -> None:
    """What stands when somebody begins to lead is told by it, ends before its eyes, and comes back."""
    engine = an_engine(a_room(by_label))
    told_again(engine, "a")

    assert [[], [True]] == told_again(engine, "", "a", token=TOKEN + 1)


def test_who_cannot_judge_has_seen_no_end() -> None:
    """A room that broke, and an object that could not be read, say nothing about what stood."""

    def breaking(view: Any, now: Now) -> Decision:
        if "broken" in dict(view[1].labels):
            raise ValueError("broken")
        return by_label(view, now)

    engine = an_engine(a_room(breaking))
    engine.seen(a_seen(version="1", labels={"a": ""}), NOW)
    step(engine)
    engine.seen(a_seen(version="2", labels={"a": "", "broken": ""}), NOW)
    step(engine)
    engine.seen(a_seen(version="3", labels={"a": ""}), NOW)
    assert [(WHY, False)] == [(one.reason, one.again) for one in step(engine).notices]
    engine.unreadable(A, "uid", "4", "garbage", NOW)
    step(engine)
    engine.seen(a_seen(version="5", labels={"a": ""}), NOW)
    assert [(WHY, False)] == [(one.reason, one.again) for one in step(engine).notices]


def test_a_complaint_comes_again() -> None:
    """It worked in between."""
    engine = a_writer()
    _, now = fail(engine, Failed("forbidden", lasting=True), 1)
    now = later(100, now)
    engine.ended(only_effect(engine, now), Done(now.mono), now)
    now = later(200, now)
    engine.ended(only_effect(engine, now), Failed("forbidden", lasting=True), now)

    assert [True] == [notice.again for notice in step(engine, now).notices]


def test_an_object_becomes_unreadable_again() -> None:
    """Mended, or broken in another way, in between."""
    engine = an_engine(a_room(idle))
    found = []
    for version, problem in enumerate(["garbage", "", "garbage", "rubbish", "garbage"]):
        if problem:
            engine.unreadable(A, "uid", str(version), problem, NOW)
        else:
            engine.seen(a_seen(A, str(version)), NOW)
        found.append([notice.again for notice in step(engine).notices])

    assert [[False], [], [True], [False], [True]] == found


def test_what_is_over_is_remembered_within_bounds() -> None:
    """The oldest is forgotten first: it is said then as if for the first time."""
    telling = Telling()
    for number in range(OVER_MAX + 1):
        telling.decided(Key("test", ref(NODE, str(number))), "uid", (WHY,), "")
        telling.forget(Key("test", ref(NODE, str(number))))
    telling.take()
    for name in ("0", "1"):
        telling.decided(Key("test", ref(NODE, name)), "uid", (WHY,), "")

    assert [False, True] == [notice.again for notice in telling.take()]


# --- complaints ----------------------------------------------------------------------------------------------


def fail(engine: Engine, outcome: Failed | Unknown, times: int, now: Now = NOW) -> tuple[list[list[Reason]], Now]:
    """Let the write of A fail so many times, and read live in between where that is asked for."""
    told = []
    while times:
        now = later(100, now)
        effect = only_effect(engine, now)
        if effect.action != drop(A):
            done(engine, effect, now, seen=a_seen())
            continue
        engine.ended(effect, outcome, now)
        told.append(reasons(step(engine, now).notices))
        times -= 1
    return told, now


def a_writer() -> Engine:
    engine = an_engine(a_room(lambda view, now: want(drop(A), because=(WHY,))))
    engine.seen(a_seen(), NOW)
    return engine


def test_passing_failures_are_told_from_the_third_on_and_once() -> None:
    """A conflict or two is daily business."""
    complaint = ActionFailed("DropBackup of Node//a", "busy")

    told, _ = fail(a_writer(), Failed("busy"), 5)

    assert [[], [], [complaint], [], []] == told


def test_unknown_outcomes_are_told_alike() -> None:
    """No answer, three times: a person should know."""
    told, _ = fail(a_writer(), Unknown("no answer"), 4)

    assert [ActionFailed("DropBackup of Node//a", "no answer")] == [
        reason for some in told for reason in some if reason != WHY
    ]


def test_a_refusal_is_told_at_once_and_once() -> None:
    """What will not go away by itself needs no third try."""
    complaint = ActionRefused("DropBackup of Node//a", "forbidden")

    told, _ = fail(a_writer(), Failed("forbidden", lasting=True), 4)

    assert [[complaint], [], [], []] == told


def test_a_complaint_ends_with_success() -> None:
    """After it worked once, the next refusal is told again."""
    engine = a_writer()
    _, now = fail(engine, Failed("forbidden", lasting=True), 1)
    now = later(100, now)
    engine.ended(only_effect(engine, now), Done(now.mono), now)

    told, _ = fail(engine, Failed("forbidden", lasting=True), 1, now)

    assert [[ActionRefused("DropBackup of Node//a", "forbidden")]] == told


def test_another_complaint_is_told() -> None:
    """The cause changed: that is news."""
    engine = a_writer()
    _, now = fail(engine, Failed("forbidden", lasting=True), 1)

    told, _ = fail(engine, Failed("denied by policy", lasting=True), 1, now)

    assert [[ActionRefused("DropBackup of Node//a", "denied by policy")]] == told


# --- what stands ---------------------------------------------------------------------------------------------


OVERDUE, BROKEN = NodeOverdue("n", NOW.wall, "on", ""), BackupUnreadable("garbage")


def test_what_calls_a_person_is_counted_while_it_stands() -> None:
    """By room and reason: how many keys have it now; what calls nobody is not counted, what is over is not either."""

    def by_letter(view: Any, now: Now) -> Decision:
        named = (("o", OVERDUE), ("b", BROKEN), ("p", ClusterPaused()), ("l", ConfirmFirst("x")))
        letters = "".join(dict(view[1].labels))
        return Decision(because=tuple(reason for letter, reason in named if letter in letters))

    engine = an_engine(a_room(by_letter))
    stood = []
    story = [(A, "o"), (B, "op"), (A, "ob"), (A, "l"), (B, "p"), (A, "b"), (A, "")]
    for version, (at, letters) in enumerate(story, start=1):
        engine.seen(a_seen(at, version=str(version), labels={**dict.fromkeys(letters, ""), str(version): ""}), NOW)
        step(engine)
        stood.append({name: count for (_, name), count in engine.standing.items()})

    one, two = {"NodeOverdue": 1}, {"NodeOverdue": 2}
    both = {"NodeOverdue": 2, "BackupUnreadable": 1}  # and a look that comes first is no answer
    assert [one, two, both, both, {**both, "NodeOverdue": 1}, {"BackupUnreadable": 1}, {}] == stood


def test_a_reason_goes_with_its_object() -> None:
    """Nobody holds it any more."""
    engine = an_engine(a_room(lambda view, now: Decision(because=(OVERDUE, OVERDUE))))
    engine.seen(a_seen(), NOW)
    step(engine)
    before = list(engine.standing.values())
    engine.gone(a_seen(), NOW)
    step(engine)

    assert ([1], {}) == (before, engine.standing)


def test_a_complaint_stands_until_it_works() -> None:
    """What the API refuses is nobody's decision, and calls a person all the same."""
    engine = a_writer()
    _, now = fail(engine, Failed("forbidden", lasting=True), 2)
    refused = {name for _, name in engine.standing}
    now = later(100, now)
    engine.ended(only_effect(engine, now), Done(now.mono), now)

    assert ({"ActionRefused"}, {}) == (refused, engine.standing)


# --- quarantine ----------------------------------------------------------------------------------------------


def test_an_unreadable_object_is_set_aside_and_told_once() -> None:
    """It is neither judged nor absent, and is told about once; the others go on."""
    engine = an_engine(a_room(idle))
    engine.seen(a_seen(A), NOW)
    engine.seen(a_seen(B), NOW)
    step(engine)

    engine.unreadable(A, "uid", "1", "labels: expected object", NOW)
    assert (Notice("quarantine", A, "uid", ObjectUnreadable("labels: expected object"), "uid"),) == step(engine).notices
    engine.unreadable(A, "uid", "1", "labels: expected object", NOW)

    assert () == step(engine).notices
    found = engine.cache.read(A)
    assert (1, "labels: expected object") == (engine.quarantined, isinstance(found, Unreadable) and found.problem)
    assert isinstance(engine.cache.read(B), Present)


def test_whom_an_unreadable_object_concerns_is_looked_at() -> None:
    """When it becomes unreadable, is mended, or goes, rooms are asked whom that concerns; None is what they may see.

    And whom it concerned when it could be read: it may speak of somebody else when it is mended.
    """
    asked: list[object] = []

    def wakes(at: Ref, obj: Any, reader: Reader) -> tuple[Ref, ...]:
        asked.append(obj and obj.uid)
        return (at,)

    def news() -> list[object]:
        found = list(asked)
        asked.clear()
        return found

    engine = an_engine(replace(a_room(idle), wakes=wakes))
    engine.seen(a_seen(A), NOW)
    assert ["uid"] == news()
    engine.unreadable(A, "uid", "2", "garbage", NOW)
    assert ["uid", None] == news()
    engine.unreadable(A, "uid", "3", "garbage", NOW)
    assert [] == news()
    engine.seen(a_seen(A, "4"), NOW)
    assert [None, "uid", "uid"] == news()
    engine.unreadable(A, "uid", "5", "garbage", NOW)
    engine.gone(Seen(A, "uid", "6", None), NOW)
    assert ["uid", None, None, "uid"] == news()


def test_a_former_object_of_that_name_does_not_end_the_quarantine() -> None:
    """The deletion of a predecessor comes late: its successor is still there, and still unreadable."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "new", "7", "garbage", NOW)
    engine.gone(Seen(A, "old", "6", None), NOW)

    assert 1 == engine.quarantined


def test_an_object_that_is_mended_recovers() -> None:
    """Readable again, it is judged again; unreadable again, it is told again."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    step(engine)

    engine.seen(a_seen(A, "2"), NOW)
    assert (0, True) == (engine.quarantined, isinstance(engine.cache.read(A), Present))
    engine.unreadable(A, "uid", "3", "garbage", NOW)
    assert [ObjectUnreadable("garbage")] == reasons(step(engine).notices)


def test_another_problem_is_told() -> None:
    """Mended in one place and broken in another: that is news."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    step(engine)
    engine.unreadable(A, "uid", "1", "other garbage", NOW)

    assert [ObjectUnreadable("other garbage")] == reasons(step(engine).notices)
    assert 1 == engine.quarantined


def test_an_unreadable_object_that_is_deleted_leaves_the_quarantine() -> None:
    """What is gone is not counted as broken any more, whether the watch says so or a list."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    engine.unreadable(B, "uid", "1", "garbage", NOW)

    engine.gone(Seen(A, "uid", "2", None), NOW)
    assert 1 == engine.quarantined
    engine.listing(NODE, NOW)
    engine.listed(NODE, NOW)
    assert 0 == engine.quarantined


def test_an_unreadable_object_of_a_new_list_stays_in_quarantine() -> None:
    """Listed again and still broken: still counted, and not told again."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    step(engine)

    engine.listing(NODE, NOW)
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    engine.listed(NODE, NOW)

    assert (1, ()) == (engine.quarantined, step(engine).notices)


def test_an_object_mended_by_the_time_of_a_new_list_is_kept() -> None:
    """Unreadable before the list and readable in it: it is judged, not dropped with what the list does not name."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)

    engine.listing(NODE, NOW)
    engine.seen(a_seen(A, "2"), NOW)
    engine.listed(NODE, NOW)

    assert (0, True) == (engine.quarantined, isinstance(engine.cache.read(A), Present))


def test_a_standby_tells_nobody() -> None:
    """Only the leader speaks, or every event would be there twice; what is still true on election is told then."""
    engine = an_engine(a_room(idle))
    engine.unreadable(A, "uid", "1", "garbage", NOW)
    engine.unreadable(B, "uid", "1", "garbage", NOW)
    assert () == step(engine, token=None).notices
    engine.seen(a_seen(B, "2"), NOW)

    assert [A] == [notice.ref for notice in step(engine).notices]


def test_a_leader_that_is_not_in_step_yet_tells_what_is_unreadable() -> None:
    """The reason why it is not in step may be exactly that object."""
    engine = Engine((a_room(idle),))
    engine.unreadable(A, "uid", "1", "garbage", NOW)

    assert [ObjectUnreadable("garbage")] == reasons(step(engine).notices)
