"""Proofs of fencing: what each needs, and that nothing less will do."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node, ago, later, present

from noderemedy.core import safety
from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.model.actions import DeleteNode, DeletePod, Guard, TaintOutOfService
from noderemedy.model.attestation import Attestation
from noderemedy.model.errors import Bug
from noderemedy.model.ids import ref
from noderemedy.model.node import Condition, OutOfService
from noderemedy.model.proof import Attested, FencedOff, StorageFenced, Subject
from noderemedy.model.run import Power, Result, Run, RunState
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.model.workload import POD

SUBJECT = Subject("node-uid-1", "boot-1")
SILENT = a_node(ready="Unknown")
OFF = Run("fence-1", RunState.DONE, Power.OFF, begun=Mono(NOW.mono.ms - 10_000))
ASKED = (("ipmi", OFF), ("pdu", replace(OFF, id="fence-2")))


def fenced(node: Any = SILENT, subject: Subject = SUBJECT, asked: Any = ASKED, *, confirmed: bool = True) -> Any:
    return safety.fenced_off(present(node, confirmed=confirmed), subject, asked, NOW)


def test_everything_off_and_nobody_hears_it() -> None:
    """The proof names the boot, the methods and the runs that asked."""
    assert FencedOff(SUBJECT, ("ipmi", "pdu"), ("fence-1", "fence-2"), NOW.wall) == fenced()


@pytest.mark.parametrize(
    "asked",
    [
        (),
        (("ipmi", None),),
        (("ipmi", OFF), ("pdu", None)),
        (("ipmi", replace(OFF, power=Power.ON)),),
        (("ipmi", replace(OFF, power=Power.UNKNOWN)),),
        (("ipmi", replace(OFF, state=RunState.FAILED)),),
        (("ipmi", replace(OFF, state=RunState.RUNNING)),),
        (("ipmi", replace(OFF, begun=Mono(NOW.mono.ms - 60_001))),),
        (("ipmi", replace(OFF, begun=Mono(0))),),
    ],
)
def test_less_than_all_off_just_now_proves_nothing(asked: Any) -> None:
    """No method, one that was not asked, one that says on or nothing, or was asked too long ago or by somebody else."""
    assert None is fenced(asked=asked)
    assert None is safety.storage_fenced(present(SILENT), SUBJECT, asked, ("driver/fc",), NOW)


def asked(name: str, ago_s: float, took_s: float = 0) -> tuple[str, Run]:
    """A device that was asked so long ago, and needed so long to say off."""
    begun = Mono(NOW.mono.ms - round(ago_s * 1000))
    return name, replace(OFF, id=f"fence-{name}", begun=begun, took=Span.seconds(took_s))


@pytest.mark.parametrize(
    ("runs", "to_ask"),
    [
        ((), None),
        ((asked("a", 60),), None),
        ((asked("a", 60.001),), "a"),
        ((asked("a", 185, 125),), None),
        ((asked("a", 185.001, 125),), "a"),
        ((asked("a", 250, 125), asked("b", 125, 125)), None),
        ((asked("b", 125, 125), asked("a", 250, 125)), None),
        ((asked("a", 120), asked("b", 60)), None),
        ((asked("a", 120.001), asked("b", 60)), "a"),
        ((asked("a", 300, 125), asked("b", 100, 90)), "a"),
        ((asked("a", 10, 5), asked("b", 300, 125)), "b"),
        ((asked("a", 250, 125), ("b", None)), "b"),
        ((("a", None), asked("b", 300)), "a"),
    ],
)
def test_what_a_device_takes_to_answer_does_not_make_its_word_old(runs: Any, to_ask: str | None) -> None:
    """All other time does: a minute at most before and after each question; the oldest is asked again first."""
    assert to_ask == safety.to_ask(runs, NOW)
    assert (to_ask is None and bool(runs)) is (fenced(asked=runs) is not None)


@pytest.mark.parametrize(("told_s", "took_s"), [(5, 5), (10, 10), (3_600, 10), (-5, 0)])
def test_no_device_takes_longer_than_we_waited_for_it(told_s: float, took_s: float) -> None:
    """Whoever says so, such as a Job with another clock, cannot keep an answer young."""
    run = replace(OFF, state=RunState.RUNNING).ended(Result(RunState.DONE, took=Span.seconds(told_s)), NOW.mono)

    assert (RunState.DONE, Span.seconds(took_s)) == (run.state, run.took)


@pytest.mark.parametrize(
    ("node", "subject"),
    [
        (a_node(), SUBJECT),
        (a_node(ready="False"), SUBJECT),
        (a_node(ready="Unknown", boot_id="boot-2"), SUBJECT),
        (a_node("node-uid-2", ready="Unknown"), SUBJECT),
        (a_node(ready="Unknown", boot_id=""), Subject("node-uid-1", "")),
    ],
)
def test_another_boot_or_a_node_that_reports_is_not_proven_off(node: Any, subject: Subject) -> None:
    """Neither by devices nor by a person's word."""
    assert None is fenced(node, subject)
    assert None is safety.attested(present(node), subject, "anna", ago(5), "off", NOW)


@pytest.mark.parametrize(("since", "is_proof"), [(ago(2_700), True), (ago(2_699), False)])
def test_who_fell_silent_long_after_its_plugs_were_off_hangs_on_others(since: Wall, is_proof: bool) -> None:
    """Ten minutes until nobody hears it, and clocks that differ by five: later it was heard meanwhile."""
    entry = present(replace(SILENT, conditions=(Condition("Ready", "Unknown", since),)))

    assert is_proof is (safety.fenced_off(entry, SUBJECT, ASKED, NOW, ago(3_600)) is not None)


def test_an_old_view_proves_nothing() -> None:
    """The Node must have been read live."""
    entry = present(SILENT, confirmed=False)

    assert None is fenced(confirmed=False)
    assert None is safety.storage_fenced(entry, SUBJECT, ASKED, ("driver/fc",), NOW)
    assert None is safety.attested(entry, SUBJECT, "anna", ago(5), "off", NOW)


def test_a_storage_fence_covers_what_it_names() -> None:
    """The node may be heard: it lost its storage, not its power. Without anything covered there is no proof."""
    entry = present(a_node())
    proof = safety.storage_fenced(entry, SUBJECT, ASKED, ("driver/fc",), NOW)

    assert StorageFenced(SUBJECT, ("ipmi", "pdu"), ("driver/fc",), NOW.wall) == proof
    assert None is safety.storage_fenced(entry, SUBJECT, ASKED, (), NOW)


def test_a_word_is_a_proof_for_that_boot() -> None:
    """It says who and when; configuration may speak for a node that reports, a person may not; nobody is nobody."""
    word = safety.attested(present(SILENT), SUBJECT, "anna", ago(5), "off", NOW)

    assert Attested(SUBJECT, "anna", ago(5), "off") == word
    assert None is safety.attested(present(SILENT), SUBJECT, "", ago(5), "off", NOW)
    heard = present(a_node())
    assert None is not safety.attested(heard, SUBJECT, "configuration x", ago(5), "off", NOW, may_be_heard=True)


@pytest.mark.parametrize(("since", "is_proof"), [(ago(5), True), (ago(6), True), (ago(4), False)])
def test_a_word_is_about_the_silence_that_it_was_given_in(since: Wall, is_proof: bool) -> None:
    """A node that has reported since then was not off, however silent it is now."""
    node = replace(SILENT, conditions=(Condition("Ready", "Unknown", since),))
    word = Attestation("anna", ago(5), SUBJECT.node_uid, SUBJECT.boot_id)

    assert is_proof is (safety.attested_by(present(node), word, NOW) is not None)


@pytest.mark.parametrize(("seconds", "is_proof"), [(0, True), (300, True), (301, False), (3_600, False)])
def test_a_word_of_the_future_is_no_proof(seconds: float, is_proof: bool) -> None:
    """It would count for silences that are still to come; clocks differ by minutes."""
    word = Attestation("anna", later(seconds).wall, SUBJECT.node_uid, SUBJECT.boot_id)

    assert is_proof is (safety.attested_by(present(SILENT), word, NOW) is not None)


def test_a_storage_fence_never_frees_a_whole_node() -> None:
    """It may free a pod; the taint and the deletion of a Node free all of them."""
    proof = StorageFenced(SUBJECT, ("fc-off",), ("driver/fc",), NOW.wall)
    guard, mark = Guard("node-uid-1", "7"), OutOfService("node-fence", "/x", "u")

    with pytest.raises(Bug):
        DeleteNode(NODE_AT, guard, "boot-1", proof)
    with pytest.raises(Bug):
        TaintOutOfService(NODE_AT, guard, "boot-1", (OUT_OF_SERVICE,), mark, proof)
    assert DeletePod(ref(POD, "db-0", "default"), Guard("p"), SUBJECT, proof).proof == proof
