"""A person's word that a node is off: `node-remedy.dev/attested-off` on its Metal3Remediation (race R36).

It is what is left where a BMC does not answer: no host is ever seen off then, and nothing is freed. It counts for the
very boot that the attempt is about, in every phase after the first, and never for a node that reports.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import foredated, safety
from noderemedy.core.foredated import ForedatedWord
from noderemedy.core.gates import first
from noderemedy.core.metal3.remediationgates import (
    BEFORE_ANYTHING,
    NODE_SEEN,
    UNPAUSED,
    nobody_else_holds_it,
    one_repair_per_node,
)
from noderemedy.core.metal3.remediationview import RemediationView
from noderemedy.core.metal3.steps import publish
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision
from noderemedy.model.meta import Malformed
from noderemedy.model.proof import Attested, attested_note, is_word
from noderemedy.model.reasons import AttestationOfAnotherBoot, AttestationUnreadable, Reason
from noderemedy.model.remediation import Evidence, Phase
from noderemedy.model.room import Present
from noderemedy.model.time import Now

BEFORE_IT_COUNTS = (*NODE_SEEN, one_repair_per_node)  # who gave the repair to the owner has given its claim back
HEARD = (Phase.NEW, Phase.FREEING)  # nothing is known of any boot yet; it is being freed already


def void(view: RemediationView, now: Now) -> ForedatedWord | None:
    """The word on the request, where it is, or was, of the future."""
    remediation = view.remediation
    found = foredated.void(remediation.attested, remediation.progress.attested_ahead, view.foredated, now)
    return foredated.known_of(found, view.foredated, view.entry) if found is not None else None


def without(view: RemediationView, void: ForedatedWord | None) -> RemediationView:
    """The same view; a void word is garbage to everybody, and on record in whatever is written."""
    if void is None:
        return view
    progress = structs.replace(view.remediation.progress, attested_ahead=void.word.at)
    garbage = foredated.garbled(void, view.ref.kind)
    return structs.replace(view, remediation=structs.replace(view.remediation, attested=garbage, progress=progress))


def record(view: RemediationView, void: ForedatedWord | None, now: Now) -> Decision | None:
    """Put it on record that a word is void; None where it is, where nothing may be written, where none is heeded."""
    progress = view.remediation.progress
    if void is None or foredated.is_recorded(void.word, progress.attested_ahead):
        return None
    if view.remediation.deleting or first(BEFORE_ANYTHING, view, now):
        return None
    return publish(view, structs.replace(progress, attested_ahead=void.word.at))


def word_of(view: RemediationView) -> Attestation | None:
    """The word that speaks of the boot which this attempt is about; None if there is none, or if that is history."""
    word, evidence, node = view.remediation.attested, view.remediation.progress.evidence, view.node
    if not isinstance(word, Attestation) or node is None or safety.is_refuted(word, node):
        return None
    is_about_it = (word.node_uid, word.boot_id) == (evidence.node_uid, evidence.boot_id)
    return word if is_about_it and (node.uid, node.boot_id) == (word.node_uid, word.boot_id) else None


def prove(view: RemediationView, now: Now) -> Attested | None:
    word = word_of(view)
    if word is None or view.machine is None or not isinstance(view.machine.node_entry, Present):
        return None
    return safety.attested_by(view.machine.node_entry, word, now)


def is_news(view: RemediationView, now: Now) -> bool:
    """Whether a word says what nobody knew, and can be heeded: nothing was freed in this attempt on a proof that holds.

    A word that has had its time for freeing, and was not done with it, is no news: the host would stay off for ever.
    """
    progress, word = view.remediation.progress, word_of(view)
    is_open = progress.phase not in HEARD and (progress.evidence.freed_at is None or was_refuted(progress.evidence))
    is_known = word is not None and progress.evidence.proof == attested_note(word.by, word.at)
    return is_open and word is not None and not is_known and not hindered(view, now)


def was_refuted(evidence: Evidence) -> bool:
    """Whether a host's being off was the proof, and was contradicted afterwards: it never was one."""
    return evidence.contradicted_at is not None and bool(evidence.proof) and not is_word(evidence.proof)


def hindered(view: RemediationView, now: Now) -> tuple[Reason, ...]:
    """Why a word cannot be heeded now: what is freed is held off as well, and a hold is not for us to begin."""
    blocked = first((*UNPAUSED, nobody_else_holds_it), view, now)
    return (blocked.reason,) if blocked else ()


def complaint(view: RemediationView, now: Now) -> tuple[Reason, ...]:
    """What is wrong with a word that somebody gave."""
    word, progress = view.remediation.attested, view.remediation.progress
    if isinstance(word, Malformed):
        return (AttestationUnreadable(word.problem),)
    is_proven = bool(progress.evidence.proof) and not was_refuted(progress.evidence)
    if word is None or progress.phase is Phase.NEW or is_proven:
        return ()
    if word_of(view) is not None:
        return hindered(view, now)
    return (AttestationOfAnotherBoot(view.node_name, word.by),) if not view.remediation.is_ended else ()
