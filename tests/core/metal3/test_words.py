"""A person's word on a Metal3Remediation that its node is off: when it counts, and what it frees."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NODE_AT, NOW, REMEDIATION_AT, a_host, a_machine, a_node, ago, later, unreadable
from tests.core.metal3.remediations import (
    BACK,
    EVIDENCE,
    NO_PODS,
    NO_VOLUMES,
    SICK,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    actions,
    decided,
    looked,
    reasons,
)

from noderemedy.model.actions import DeleteNode, PublishRemediationStatus, TaintOutOfService
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition, Node
from noderemedy.model.outcome import Seen
from noderemedy.model.proof import Attested
from noderemedy.model.remediation import Metal3Remediation, Phase
from noderemedy.model.time import Wall
from noderemedy.model.workload import FreeBy

WORD = Attestation("anna", ago(5), "node-uid-1", "boot-1")
AFTERWARDS = (Phase.POWER_OFF, Phase.POWER_ON, Phase.WAITING, Phase.DELETING_MACHINE, Phase.FAILED)
SILENT = a_held_host(Power.UNKNOWN)  # its BMC does not answer


def silent(since: Wall) -> Node:
    return replace(SICK, conditions=(Condition("Ready", "Unknown", since),))


def attested(phase: Phase, word: Any = WORD, **more: Any) -> Metal3Remediation:
    return replace(a_remediation(phase, **more), attested=word)


@pytest.mark.parametrize("phase", AFTERWARDS)
def test_a_word_frees_what_no_device_could_prove(phase: Phase) -> None:
    """In every phase after the first one freeing begins, and the record names the person."""
    decision = looked(a_world(attested(phase), host=SILENT))

    assert ["ProvenFenced", "PhaseBegins"] == reasons(decision)
    (write,) = decision.actions
    assert isinstance(write, PublishRemediationStatus)
    told = write.progress
    assert (Phase.FREEING, f"Attested by anna at {WORD.at}") == (told.phase, told.evidence.proof)


@pytest.mark.parametrize(
    ("phase", "word", "node", "expected"),
    [
        (Phase.POWER_OFF, Attestation("anna", ago(5), "node-uid-1", "boot-0"), SICK, "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, Attestation("anna", ago(5), "node-uid-0", "boot-1"), SICK, "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, WORD, a_node(), "AttestationOfAnotherBoot"),  # it reports
        (Phase.POWER_OFF, WORD, a_node(ready="False"), "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, WORD, silent(ago(4)), "AttestationOfAnotherBoot"),  # it has reported since
        (Phase.POWER_OFF, WORD, replace(SICK, boot_id="boot-2"), "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, WORD, replace(SICK, uid="node-uid-2"), "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, WORD, None, "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, WORD, unreadable(), "AttestationOfAnotherBoot"),
        (Phase.POWER_OFF, Malformed("no JSON"), SICK, "AttestationUnreadable"),
        (Phase.POWER_OFF, replace(WORD, at=later(301).wall), SICK, "AttestationUnreadable"),
        (Phase.WAITING, replace(WORD, at=later(3_600).wall), SICK, "AttestationUnreadable"),
        (Phase.WAITING, WORD, BACK, "AttestationOfAnotherBoot"),
    ],
)
def test_a_word_that_does_not_fit_counts_as_nothing(phase: Phase, word: Any, node: Any, expected: str) -> None:
    """Another boot or Node, one that reports, and garbage: told, and nothing is freed."""
    decision = looked(a_world(attested(phase, word), host=SILENT, node=node))

    assert expected in reasons(decision)
    assert not [action for action in decision.actions if isinstance(action, DeleteNode | TaintOutOfService)]
    phases = [one.progress.phase for one in decision.actions if isinstance(one, PublishRemediationStatus)]
    assert Phase.FREEING not in phases


def test_a_word_of_the_future_stays_void() -> None:
    """When its time has come, nobody knows what the node has reported meanwhile: the person is asked anew."""
    word = replace(WORD, at=later(3_600).wall)
    cache = a_reader(a_world(attested(Phase.WAITING, word), host=SILENT), known=NOW.mono)
    for fact in decided(REMEDIATION_AT, cache).facts:
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    then = decided(REMEDIATION_AT, cache, later(3_700))

    assert "AttestationUnreadable" in reasons(then)
    assert "ProvenFenced" not in reasons(then)


def recorded(decision: Decision, before: Metal3Remediation) -> Metal3Remediation:
    """The request as it is in the API afterwards."""
    writes = [one for one in decision.actions if isinstance(one, PublishRemediationStatus)]
    return replace(before, progress=writes[0].progress) if writes else before


@pytest.mark.parametrize("phase", Phase)
def test_a_word_of_the_future_is_void_for_a_successor(phase: Phase) -> None:
    """Its time is on record before anything else is done: who takes over when it has come knows as much."""
    request = attested(phase, replace(WORD, at=Wall(later(3_600).wall.ms + 250)))
    request = recorded(looked(a_world(request, host=SILENT)), request)
    node = silent(later(3_000).wall)

    then = looked(a_world(request, host=SILENT, node=node), now=later(3_700))

    assert phase is request.progress.phase
    assert "AttestationUnreadable" in reasons(then)
    assert "ProvenFenced" not in reasons(then)
    assert request.progress.attested_ahead == recorded(then, request).progress.attested_ahead


def test_while_nothing_may_be_written_a_word_of_the_future_is_remembered() -> None:
    """A paused Cluster: not a single write; the record follows when that is over, also when its time has come."""
    word = replace(WORD, at=later(3_600).wall)
    paused = attested(Phase.FAILED, word, cluster_paused=True)
    early = looked(a_world(paused))
    cache = a_reader(a_world(replace(paused, cluster_paused=False)), now=later(3_700))
    for fact in early.facts:
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    late = decided(REMEDIATION_AT, cache, later(3_700))

    assert () == early.actions
    assert ["AttestationUnreadable"] == reasons(late)
    assert later(3_600).wall == recorded(late, paused).progress.attested_ahead


def test_no_repair_stands_still_for_a_record_that_does_not_stay() -> None:
    """A definition of an older version forgets the field: it is tried once, then where nothing else is to be done.

    Whatever is written there carries it along.
    """
    word = replace(WORD, at=later(3_600).wall)
    cache = a_reader(a_world(attested(Phase.POWER_ON, word), host=SILENT))
    tried = decided(REMEDIATION_AT, cache)
    for fact in tried.facts:
        cache.put(Seen(fact.ref, "", "", fact.value), NOW.mono)

    assert ["PublishRemediationStatus"] == actions(tried)
    assert ["ReleaseHost"] == actions(decided(REMEDIATION_AT, cache))
    cache.put(Seen(HOST_AT, "host-uid-1", "999", a_host()), NOW.mono)
    (goes_on,) = decided(REMEDIATION_AT, cache).actions
    assert isinstance(goes_on, PublishRemediationStatus)
    assert (Phase.WAITING, word.at) == (goes_on.progress.phase, goes_on.progress.attested_ahead)


def test_before_anything_began_there_is_no_boot_to_speak_of() -> None:
    """A word on a new request waits until the attempt has recorded what it is about."""
    assert "ProvenFenced" not in reasons(looked(a_world(attested(Phase.NEW))))


def test_a_word_is_heard_once() -> None:
    """What was freed in this attempt is not freed again: the phases go on."""
    freed = replace(EVIDENCE, off_at=ago(60), freed_at=ago(30), proof="Attested by anna", free_by=FreeBy.TAINT)
    decision = looked(a_world(attested(Phase.WAITING, evidence=freed), host=a_host()))

    assert "ProvenFenced" not in reasons(decision)


def test_a_word_that_did_not_free_in_time_is_no_news() -> None:
    """A pod that does not go would keep the host off for ever: power comes back, as after every other proof."""
    tried = replace(EVIDENCE, off_at=ago(600), free_by=FreeBy.PODS, proof=f"Attested by anna at {WORD.at}")
    decision = looked(a_world(attested(Phase.POWER_ON, evidence=tried), host=a_held_host(Power.OFF)))

    assert "ProvenFenced" not in reasons(decision)


def test_the_node_is_read_live_before_its_word_counts() -> None:
    """A node that booted meanwhile is not to be freed on a word about its past."""
    decision = looked(a_world(attested(Phase.WAITING), host=SILENT), stale=(NODE_AT,))

    assert (["Confirm"], ["ConfirmFirst"]) == (actions(decision), reasons(decision))


def test_who_gave_its_claim_back_claims_before_it_frees() -> None:
    """Of a repair that was the owner's by then somebody else may have the node."""
    world = a_world(attested(Phase.DELETING_MACHINE), host=SILENT)

    assert ["ClaimRepair"] == actions(looked(world, holder=None))
    assert "ProvenFenced" not in reasons(looked(world, holder="annotation Machine x"))


FREEING = attested(
    Phase.FREEING,
    evidence=replace(EVIDENCE, off_at=ago(60), free_by=FreeBy.TAINT, proof="Attested by anna", tainted_at=ago(5)),
)


@pytest.mark.parametrize("power", [Power.UNKNOWN, Power.ON])
def test_freeing_goes_on_with_the_word(power: Power) -> None:
    """The host says nothing, or that it is on: what is freed carries the person's word as its proof."""
    (taint,) = looked(a_world(FREEING, host=a_held_host(power)), pods=NO_PODS, volumes=NO_VOLUMES).actions

    assert isinstance(taint, TaintOutOfService)
    assert isinstance(taint.proof, Attested)


def test_nothing_boots_before_all_is_free() -> None:
    """A host that was released meanwhile is held again: its BMC may come back before the last pod is gone (seed 18)."""
    assert ["HoldHost"] == actions(looked(a_world(FREEING, host=a_host(power=Power.ON))))


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.FREEING])
def test_a_word_waits_for_whoever_else_holds_the_host(phase: Phase) -> None:
    """A power cycle by annotation took over when the repair was the owner's: no second hold, and a word (seed 23)."""
    world = a_world(attested(phase), host=replace(a_host(), held=True))
    decision = looked(world)

    assert "ClaimedByOther" in reasons(decision)
    assert [] == [one for one in decision.actions if type(one).__name__ in ("HoldHost", "TaintOutOfService")]


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.FREEING])
@pytest.mark.parametrize("who", ["request", "machine"])
def test_a_word_waits_until_nobody_pauses_the_repair(phase: Phase, who: str) -> None:
    """What is freed is held off as well, and nothing is held anew of what a person has paused (seed 142, S8)."""
    request = replace(attested(phase), paused=Paused() if who == "request" else None)
    world = a_world(request, host=a_host(), machine=a_machine(paused=Paused() if who == "machine" else None))
    decision = looked(world)

    assert "PausedByPerson" in reasons(decision)
    assert [] == [one for one in decision.actions if type(one).__name__ in ("HoldHost", "TaintOutOfService")]
