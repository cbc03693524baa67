"""A person's word that a node is off: `node-remedy.dev/attested-off` on its NodeFence (seed 002, race R36).

Who may write it is the admission policy's business (`deploy/admission/fence-attestations.yaml`). Here it counts only
for the very boot that it names, and never for a node that reports.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import foredated, safety
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.attestation import Attestation
from noderemedy.model.meta import Malformed
from noderemedy.model.proof import Attested
from noderemedy.model.reasons import AttestationOfAnotherBoot, AttestationUnreadable, Reason
from noderemedy.model.room import Present
from noderemedy.model.time import Now


def dated(view: FenceView, now: Now) -> FenceView:
    """The same view; a word of the future is garbage to everybody."""
    word = foredated.dated(view.fence.attested, view.foredated, now)
    return structs.replace(view, fence=structs.replace(view.fence, attested=word))


def word_of(view: FenceView) -> Attestation | None:
    """The word that speaks of the boot that this flow is about; None if there is none, or if that boot is history."""
    word, status = view.fence.attested, view.status
    if not isinstance(word, Attestation):
        return None
    is_about_it = (word.node_uid, word.boot_id) == (status.node_uid, status.boot_id)
    has_moved_on = view.node is not None and (safety.is_refuted(word, view.node) or not view.is_same_boot)
    return word if is_about_it and not has_moved_on else None


def complaint(view: FenceView) -> tuple[Reason, ...]:
    """What is wrong with a word that somebody gave."""
    word = view.fence.attested
    if isinstance(word, Malformed):
        return (AttestationUnreadable(word.problem),)
    if word is None or not view.fence.is_begun or word_of(view) is not None:
        return ()
    return (AttestationOfAnotherBoot(view.name, word.by),) if not view.fence.is_final else ()


def prove(view: FenceView, word: Attestation, now: Now) -> Attested | None:
    assert isinstance(view.node_entry, Present)
    return safety.attested_by(view.node_entry, word, now)
