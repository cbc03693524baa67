"""A boot that outlived its host's power-off: no attempt frees it, and none follows, until a person has seen to it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, NODE_AT, NOW, REMEDIATION_AT, a_host, a_node, ago, later
from tests.core.metal3.remediations import (
    EVIDENCE,
    NO_PODS,
    NO_VOLUMES,
    SICK,
    UID,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    actions,
    decided,
    looked,
    reasons,
)
from tests.core.metal3.test_remediation import OURS

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.model.actions import Confirm, PublishRemediationStatus
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.ids import Ref
from noderemedy.model.node import Condition, Node
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import HostContradicted
from noderemedy.model.remediation import Evidence, Metal3Remediation, Phase, Progress, Strategy
from noderemedy.model.time import Mono, Wall
from noderemedy.model.workload import FreeBy

TOLD = HostContradicted("metal/rack1-u07", "worker-0")
SEEN = replace(EVIDENCE, off_at=ago(3_600))
CONTRADICTED = replace(SEEN, contradicted_at=ago(3_000))
PROVEN = replace(SEEN, proof="PoweredOff host host-uid-1", free_by=FreeBy.TAINT, freed_at=ago(3_500))
LAST = 2


def silent(seconds: float, **more: Any) -> Node:
    """Since so many seconds."""
    return replace(a_node(**more), conditions=(Condition("Ready", "Unknown", ago(seconds)),))


def published(decision: Decision) -> Progress:
    (write,) = decision.actions
    assert isinstance(write, PublishRemediationStatus)
    return write.progress


def held_since(seconds: float) -> Host:
    return replace(
        a_host(power=Power.OFF), held_for=((UID, Hold("machine-uid-1", ago(seconds), "node-uid-1", "boot-1")),)
    )


def waits(evidence: Evidence, **more: Any) -> Metal3Remediation:
    """Its time to come back is over."""
    return a_remediation(Phase.WAITING, seconds=4_000, evidence=evidence, **more)


def test_it_is_on_record() -> None:
    """A node that reports all through the time for freeing: power comes back, and the next attempt knows why."""
    remediation = a_remediation(Phase.FREEING, seconds=601, evidence=replace(EVIDENCE, off_at=ago(601)))

    decision = looked(a_world(remediation, host=a_held_host(), node=a_node()))

    told = published(decision)
    assert (Phase.POWER_ON, NOW.wall, "") == (told.phase, told.evidence.contradicted_at, told.evidence.proof)
    assert TOLD in decision.because


@pytest.mark.parametrize("stale", [NODE_AT, HOST_AT])
def test_nothing_unread_is_on_record(stale: Ref) -> None:
    """Time for freeing is over, and a watch that lags still shows a node that reports: it is read live first."""
    remediation = a_remediation(Phase.FREEING, seconds=601, evidence=replace(EVIDENCE, off_at=ago(601)))
    world = a_world(remediation, host=a_held_host(), node=a_node())

    decision = looked(world, stale=(stale,))

    assert ((Confirm(stale),), later(59).mono) == (decision.actions, decision.wake_at)


def test_power_comes_back_where_nobody_can_be_read() -> None:
    """A minute later nobody has answered: nothing is called contradicted, and the host does not stay off."""
    remediation = a_remediation(Phase.FREEING, seconds=661, evidence=replace(EVIDENCE, off_at=ago(661)))

    decision = looked(a_world(remediation, host=a_held_host(), node=a_node()), stale=(NODE_AT,))

    told = published(decision)
    assert (Phase.POWER_ON, None) == (told.phase, told.evidence.contradicted_at)
    assert ["FreeingOverdue", "PhaseBegins"] == reasons(decision)


@pytest.mark.parametrize("free_by", [None, *FreeBy])
def test_a_silence_that_began_long_after_is_no_proof(free_by: FreeBy | None) -> None:
    """Whoever takes over an hour later finds the node silent for a minute: it was heard while its host was off."""
    remediation = a_remediation(Phase.FREEING, evidence=replace(SEEN, free_by=free_by))

    decision = looked(a_world(remediation, host=held_since(3_700), node=silent(60)))

    told = published(decision)
    assert (Phase.POWER_ON, NOW.wall) == (told.phase, told.evidence.contradicted_at)
    assert TOLD in decision.because


def test_who_comes_back_after_an_hour_does_not_take_now_for_then() -> None:
    """The host may have been off since the hold: a silence that is younger than that by far proves nothing."""
    remediation = a_remediation(Phase.POWER_OFF)

    late, soon = (looked(a_world(remediation, host=held_since(3_600), node=silent(since))) for since in (60, 3_400))

    assert ("", ago(3_480)) == (published(late).evidence.proof, published(late).evidence.off_at)
    assert published(soon).evidence.proof.startswith("PoweredOff")


BOOTED = silent(20, boot_id="boot-2")
READ = replace(EVIDENCE, off_at=ago(100), boot_read_at=ago(100))


def frees(evidence: Evidence, seconds: float = 100) -> Metal3Remediation:
    return a_remediation(Phase.FREEING, seconds=seconds, evidence=evidence)


@pytest.mark.parametrize("seconds", [100, 601])
@pytest.mark.parametrize("free_by", [None, *FreeBy])
@pytest.mark.parametrize("node", [BOOTED, replace(BOOTED, uid="node-uid-2"), a_node(boot_id="boot-2")])
def test_who_booted_while_its_host_was_off_is_on_another(node: Node, free_by: FreeBy | None, seconds: float) -> None:
    """A live read has shown the former boot when its host was off: nothing is freed, and none of that boot follows."""
    request = frees(replace(READ, free_by=free_by), seconds)

    decision = looked(a_world(request, host=a_held_host(), node=node), pods=NO_PODS, volumes=NO_VOLUMES)

    told = published(decision)
    assert (Phase.POWER_ON, NOW.wall, "boot-2") == (told.phase, told.evidence.contradicted_at, told.evidence.boot_id)
    assert TOLD in decision.because
    assert TOLD in looked(a_world(waits(told.evidence), node=node)).because


UNSURE: dict[str, tuple[Evidence, Host]] = {
    "nobody could look when its host was off": (replace(READ, boot_read_at=None), a_held_host()),
    "its host was off before it was held, maybe an old story": (READ, a_held_host(was_on=False)),
    "its host is on again": (READ, a_held_host(Power.ON)),
}


@pytest.mark.parametrize("free_by", [None, *FreeBy])
@pytest.mark.parametrize("case", UNSURE)
def test_who_may_have_booted_on_its_way_off_is_tried_again(case: str, free_by: FreeBy | None) -> None:
    """What is proven is about the former boot: nothing of this one is freed, and the next attempt is about this one."""
    evidence, host = UNSURE[case]
    world = a_world(frees(replace(evidence, free_by=free_by)), host=host, node=BOOTED)

    decision = looked(world, pods=NO_PODS, volumes=NO_VOLUMES)

    told = published(decision)
    assert (Phase.POWER_ON, None) == (told.phase, told.evidence.contradicted_at)
    assert ["NodeReplaced", "PhaseBegins"] == reasons(decision)
    again = published(looked(a_world(waits(told.evidence), node=BOOTED)))
    assert (Phase.POWER_OFF, "boot-2") == (again.phase, again.evidence.boot_id)


def test_another_boot_is_read_live_before_it_counts() -> None:
    """A successor's watch may lag, and show the boot before the one that is on record."""
    decision = looked(a_world(frees(READ), host=a_held_host(), node=BOOTED), stale=(NODE_AT,))

    assert (Confirm(NODE_AT),) == decision.actions


@pytest.mark.parametrize(("read_ago", "expected"), [(0, NOW.wall), (3, None)])
def test_a_boot_is_known_by_a_read_since_its_host_was_off(read_ago: int, expected: Wall | None) -> None:
    """A read from before that may have missed a boot on its way off: what comes later contradicts nothing then."""
    node, read_at = a_node(ready="False"), Mono(NOW.mono.ms - read_ago * 1_000)
    cache = a_reader(a_world(a_remediation(Phase.POWER_OFF), host=a_held_host(), node=node), stale=(NODE_AT,))
    cache.put(Seen(NODE_AT, node.uid, "900", node), read_at, confirmed_at=read_at)

    told = published(decided(REMEDIATION_AT, cache))

    assert (Phase.FREEING, expected) == (told.phase, told.evidence.boot_read_at)


# what the attempt saw, and the node now
SAME_BOOT: dict[str, tuple[Evidence, Node]] = {
    "it fell silent": (CONTRADICTED, silent(60)),
    "it reports that it is sick": (CONTRADICTED, a_node(ready="False")),
    "it is called Ready": (CONTRADICTED, a_node()),
    "its boot has another Node": (CONTRADICTED, silent(60, uid="node-uid-2")),
    "no boot is told": (replace(CONTRADICTED, boot_id=""), silent(60, boot_id="")),
}


@pytest.mark.parametrize("attempt", [1, LAST])
@pytest.mark.parametrize("strategy", Strategy)
@pytest.mark.parametrize("case", SAME_BOOT)
def test_no_attempt_follows_for_that_boot(case: str, strategy: Strategy, attempt: int) -> None:
    """Neither is it power cycled once more, nor its machine given up: the alert stays."""
    evidence, node = SAME_BOOT[case]

    decision = looked(a_world(waits(evidence, strategy=strategy, attempt=attempt), node=node))

    assert ((), TOLD) == (decision.actions, decision.because[0])


@pytest.mark.parametrize("node", [silent(60, boot_id="boot-2"), None])
def test_another_boot_is_another_matter(node: Node | None) -> None:
    """It may be on its own host by now: the next attempt begins, with evidence of its own."""
    told = published(looked(a_world(waits(CONTRADICTED), node=node)))

    assert (Phase.POWER_OFF, None) == (told.phase, told.evidence.contradicted_at)


@pytest.mark.parametrize("node", [a_node(), a_node(ready="False"), silent(60), silent(60, uid="node-uid-2")])
def test_who_was_proven_off_and_did_not_boot_was_never_off(node: Node) -> None:
    """Heard again, or since: what was proven was another machine's power. It is noted, for as long as it is so."""
    decision = looked(a_world(waits(PROVEN), node=node))

    told = published(decision)
    assert (Phase.WAITING, NOW.wall) == (told.phase, told.evidence.contradicted_at)
    assert TOLD in decision.because


@pytest.mark.parametrize("node", [a_node(), silent(60)])
def test_who_seems_to_report_is_read_live_first(node: Node) -> None:
    """A successor's watch may lag: what it shows of a node that was proven off would stay on record for ever."""
    decision = looked(a_world(waits(PROVEN), node=node), stale=(NODE_AT,))

    assert (Confirm(NODE_AT),) == decision.actions


@pytest.mark.parametrize(
    "evidence",
    [
        SEEN,  # off before it was held, maybe an old story: nothing was proven
        replace(PROVEN, proof=f"Attested by anna at {ago(3_550)}"),  # a person erred; no host did
    ],
)
def test_what_no_host_said_contradicts_none(evidence: Evidence) -> None:
    """The next attempt begins."""
    assert Phase.POWER_OFF is published(looked(a_world(waits(evidence), node=silent(60)))).phase


def test_who_stays_silent_is_tried_again() -> None:
    """It was off, and does not come back: nothing speaks against its host."""
    assert Phase.POWER_OFF is published(looked(a_world(waits(PROVEN), node=SICK))).phase


def test_a_word_is_the_way_out() -> None:
    """A person who has seen that the node is off frees it, whatever its host says; the host's word stays void."""
    word = Attestation("anna", ago(5), "node-uid-1", "boot-1")
    begun = looked(a_world(replace(waits(CONTRADICTED), attested=word), host=a_host(), node=silent(60)))
    freeing = replace(waits(CONTRADICTED), progress=published(begun), attested=None)

    kept = looked(a_world(freeing, host=a_held_host(), node=silent(60)))

    assert (Phase.FREEING, f"Attested by anna at {word.at}") == (
        published(begun).phase,
        published(begun).evidence.proof,
    )
    assert "TaintOutOfService" not in actions(kept)
    assert "FreeingWorkload" not in reasons(kept)


WORD = Attestation("anna", ago(5), "node-uid-1", "boot-1")
REFUTED = replace(PROVEN, contradicted_at=ago(600))  # what it was freed on


@pytest.mark.parametrize("attempt", [1, LAST])
@pytest.mark.parametrize("strategy", Strategy)
def test_a_word_is_the_way_out_of_a_proof_that_was_refuted(strategy: Strategy, attempt: int) -> None:
    """What was freed on that proof is freed once more, now on the word of a person; a second word is not needed."""
    request = replace(waits(REFUTED, strategy=strategy, attempt=attempt), attested=WORD)

    begun = published(looked(a_world(request, host=a_host(), node=silent(60))))

    assert (Phase.FREEING, f"Attested by anna at {WORD.at}") == (begun.phase, begun.evidence.proof)
    assert (None, REFUTED.contradicted_at) == (begun.evidence.freed_at, begun.evidence.contradicted_at)
    freed = replace(begun.evidence, freed_at=ago(1))
    for word in (WORD, replace(WORD, by="ben")):
        after = looked(
            a_world(replace(waits(freed, strategy=strategy, attempt=attempt), attested=word), node=silent(60))
        )
        assert ((), (TOLD,)) == (after.actions, after.because)


def test_a_word_that_does_not_fit_is_complained_about() -> None:
    """The proof that there was counts no more: whoever errs about the boot is told."""
    request = replace(waits(REFUTED), attested=replace(WORD, boot_id="boot-0"))

    assert ["HostContradicted", "AttestationOfAnotherBoot"] == reasons(looked(a_world(request, node=silent(60))))


def test_a_boot_that_is_not_told_any_more_stays_on_record() -> None:
    """The same Node, and its boot is empty by now: what is known of it is not forgotten."""
    told = published(looked(a_world(waits(PROVEN), node=a_node(boot_id=""), host=a_host(power=Power.OFF))))

    assert ("boot-1", NOW.wall) == (told.evidence.boot_id, told.evidence.contradicted_at)


@pytest.mark.parametrize("node", [a_node(uid="node-uid-2"), silent(60, uid="node-uid-2")])
def test_the_record_names_the_node_that_a_word_can_be_about(node: Node) -> None:
    """Its Node was deleted on that proof, and made anew by the same boot: `attest` speaks of the one that is there."""
    told = published(looked(a_world(waits(replace(PROVEN, free_by=FreeBy.NODE)), node=node)))

    assert ("node-uid-2", "boot-1", NOW.wall) == (
        told.evidence.node_uid,
        told.evidence.boot_id,
        told.evidence.contradicted_at,
    )


@pytest.mark.parametrize("evidence", [CONTRADICTED, PROVEN])
@pytest.mark.parametrize("phase", [Phase.POWER_ON, Phase.WAITING, Phase.DELETING_MACHINE])
def test_a_node_made_anew_by_that_boot_is_not_back(phase: Phase, evidence: Evidence) -> None:
    """Ready by another uid, and the same boot: it was never off, and nothing of it has recovered."""
    tainted = replace(a_node(uid="node-uid-2", taints=(OUT_OF_SERVICE,)), out_of_service=OURS)
    decision = looked(a_world(a_remediation(phase, evidence=evidence), node=tainted))

    assert "RemediationSucceeded" not in reasons(decision)
    assert "UntaintOutOfService" not in actions(decision)
