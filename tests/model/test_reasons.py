"""Reasons: each can be told in one sentence, keeps no secret, and has its section in the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from msgspec.structs import replace
from tests.builders import NOW

from noderemedy.model import reasons
from noderemedy.model.reasons import Reason
from noderemedy.model.time import Span, Wall

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
SAMPLES: dict[type, Any] = {str: "worker-0", int: 1, bool: True, Wall: NOW.wall, Span: Span(90_000)}
SECRETIVE = {"password", "secret", "token", "credential", "credentials", "key", "certificate"}

# What tells a person to do something: a verb at the beginning of a clause.
VERBS = (
    *("add", "annotate", "attest", "bring", "change", "check", "correct", "create", "delete", "find out", "install"),
    *("kubectl", "let", "look", "lower", "make sure", "mend", "name", "please", "put", "reboot", "remove", "repair"),
    *("run", "see", "set", "skip", "switch", "take", "withdraw", "write"),
)
ADVICE = re.compile(
    rf"(?:[;:,] |, or |, and | or | and )(?:{'|'.join(VERBS)})\b|(?:until|before) (?:it|that) is mended"
)
# Alerts whose remedy comes with what went wrong there: these arguments are sentences of their own.
BROUGHT = {
    *("ApprovalUnreadable.problem", "BudgetInvalid.problem", "CheckInvalid.problem", "RemediationInvalid.problems"),
    *("FenceConfigInvalid.problem", "FencePlanBroken.problem", "DocumentBroken.problem"),  # field, and what to write
    *("ClusterOutOfSight.why", "RequestsUnseen.why"),  # what is missing: a secret, a right, an answer
    *("DeletionOverdue.cause", "InstanceOverdue.cause"),  # the API's words; whose finalizers keep it
}

# Numbers that change with a step, a deed or a document only.
STANDING = {
    *(f"TableRow.{name}" for name in ("node", "needs", "on", "held")),
    *("PhaseBegins.attempt", "NextAttemptAt.attempt", "RemedyOrdered.number"),
    *("FreeingPaced.limit", "FreedAtOnce.limit"),
    *("RepairOverdue.minutes", "FencePlanBroken.problems", "SkippedUnresponsive.percent"),
    *("EventsRepeated.count", "NodeParked.count", "RepeatedProblem.count"),
}


def members(family: type[Reason]) -> list[type[Reason]]:
    """All reasons of a family, at any depth."""
    return [one for child in family.__subclasses__() for one in (child, *members(child))]


ALL = sorted(members(Reason), key=lambda kind: kind.__name__)


def a_reason(kind: type[Reason], value: Any = None) -> Reason:
    """One of this kind; `value` instead of the sample in every text."""
    texts = {**SAMPLES, str: SAMPLES[str] if value is None else value}
    return kind(**{name: texts[hint] for name, hint in annotated(kind).items()})


def annotated(kind: type[Reason]) -> dict[str, type]:
    """The arguments of a reason with their types; of what may be missing, the type of what is there."""
    hints = get_type_hints(kind)
    found = {name: get_args(hints[name]) or (hints[name],) for name in kind.__struct_fields__}
    return {name: next(one for one in types if one is not type(None)) for name, types in found.items()}


def sections() -> dict[str, str]:
    """The documentation, by its headings."""
    parts = re.split(r"^## (\w+)$", DOCUMENT, flags=re.MULTILINE)
    return {parts[number]: parts[number + 1].strip() for number in range(1, len(parts), 2)}


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_each_reason_can_be_told(kind: type[Reason]) -> None:
    """One sentence without a line break, which names all its texts; never empty, also with empty arguments."""
    told = a_reason(kind).note()

    assert told.strip() == told
    assert 10 < len(told) < 400
    assert "\n" not in told
    assert len(a_reason(kind, "").note()) > 10
    for word in ("None", "<", "Struct(", "Wall("):
        assert word not in told


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind.alert], ids=lambda kind: kind.__name__)
def test_whoever_is_called_is_told_what_to_do(kind: type[Reason]) -> None:
    """An alert without a remedy wakes a person who then has to read the documentation."""
    brought = {f"{kind.__name__}.{name}" for name in annotated(kind)} & BROUGHT

    assert bool(ADVICE.search(a_reason(kind).note())) is not bool(brought)


@pytest.mark.parametrize("kind", [kind for kind in ALL if "since" in annotated(kind) or "until" in annotated(kind)])
def test_moments_are_told_as_moments(kind: type[Reason]) -> None:
    """A moment, never an age: the sentence stays the same while the state does, or events would repeat."""
    assert str(NOW.wall) in a_reason(kind).note()


def numbers(kind: type[Reason]) -> set[str]:
    return {f"{kind.__name__}.{name}" for name, found in annotated(kind).items() if found is int}


def test_a_count_is_passing() -> None:
    """A number of a reason that is told makes an Event whenever it changes: it is passing, or it stands still."""
    told = [kind for kind in ALL if not kind.quiet]
    passing = {f"{kind.__name__}.{name}" for kind in told for name in kind.passing}

    assert STANDING == {name for kind in told for name in numbers(kind)} - passing


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind.passing], ids=lambda kind: kind.__name__)
def test_the_gist_is_what_is_not_passing(kind: type[Reason]) -> None:
    """Every name is one of the arguments; two that differ in them have one gist, two that differ in others do not."""
    one = a_reason(kind)
    others = {name: f"{getattr(one, name)}+" for name in annotated(kind)}

    assert set(kind.passing) <= set(others)
    for name, value in others.items():
        assert (name in kind.passing) is (one.gist() == replace(one, **{name: value}).gist())


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_reasons_are_values(kind: type[Reason]) -> None:
    """Equal when their arguments are, hashable, frozen: the engine compares them to tell news from the known."""
    assert a_reason(kind) == a_reason(kind)
    assert 1 == len({a_reason(kind), a_reason(kind)})
    with pytest.raises(AttributeError):
        a_reason(kind).extra = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_a_reason_takes_nothing_that_could_hold_a_secret(kind: type[Reason]) -> None:
    """Arguments are words, numbers and times: no whole objects, no bytes, and nothing that is called a secret."""
    arguments = annotated(kind)

    assert set(arguments.values()) <= set(SAMPLES)
    assert not set(arguments) & SECRETIVE


def test_every_reason_has_its_section() -> None:
    """The headings of docs/reasons.md are the reasons, no more and no fewer."""
    assert [kind.__name__ for kind in ALL] == sorted(sections())


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_each_section_says_enough(kind: type[Reason]) -> None:
    """At least a sentence, and the words alert and log exactly where the reason is one."""
    text = sections()[kind.__name__]

    assert len(text) > 60
    assert kind.alert == text.startswith("**alert**")
    assert kind.logged == text.startswith("**log**")


def test_a_reason_without_a_sentence_is_a_mistake() -> None:
    """The base has none to give."""
    with pytest.raises(NotImplementedError):
        Reason().note()
    assert reasons.__doc__
