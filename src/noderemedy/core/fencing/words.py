"""A person's word that a node is off: `node-remedy.dev/attested-off` on its NodeFence (seed 002, race R36).

Who may write it is the admission policy's business (`deploy/admission/fence-attestations.yaml`). Here it counts only
for the very boot that it names, and never for a node that reports. Its kubelet may have made its Node anew meanwhile:
that is another Node and the same boot.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import foredated, safety
from noderemedy.core.fencing.gates import fence_is_valid
from noderemedy.core.fencing.moves import publish
from noderemedy.core.fencing.view import FenceView
from noderemedy.core.foredated import ForedatedWord
from noderemedy.model.attestation import Attestation
from noderemedy.model.decision import Decision
from noderemedy.model.meta import Malformed
from noderemedy.model.nodefence import FenceStatus, State
from noderemedy.model.proof import Attested
from noderemedy.model.reasons import AttestationOfAnotherBoot, AttestationUnreadable, Reason
from noderemedy.model.room import Present
from noderemedy.model.time import Now


def void(view: FenceView, now: Now) -> ForedatedWord | None:
    """The word on the fence, where it is, or was, of the future."""
    found = foredated.void(view.fence.attested, view.status.attested_ahead, view.foredated, now)
    return foredated.known_of(found, view.foredated, view.entry) if found is not None else None


def without(view: FenceView, void: ForedatedWord | None) -> FenceView:
    """The same view; a void word is garbage to everybody, and on record in whatever is written."""
    if void is None:
        return view
    status = structs.replace(view.status, attested_ahead=void.word.at)
    garbage = foredated.garbled(void, view.ref.kind)
    return structs.replace(view, fence=structs.replace(view.fence, attested=garbage, status=status))


def record(view: FenceView, void: ForedatedWord | None, now: Now) -> Decision | None:
    """Put it on record that a word is void; None where it is, and over a status that we cannot read."""
    if void is None or foredated.is_recorded(void.word, view.status.attested_ahead) or fence_is_valid(view, now):
        return None
    return publish(view, structs.replace(view.status, attested_ahead=void.word.at))


def word_of(view: FenceView) -> Attestation | None:
    """The word that speaks of the boot that this flow is about; None if there is none, or if that boot is history."""
    word, status = view.fence.attested, view.status
    if not isinstance(word, Attestation):
        return None
    node = view.node
    has_moved_on = node is not None and (
        safety.is_refuted(word, node) or not is_its_boot(status, node.uid, node.boot_id)
    )
    return word if is_its_boot(status, word.node_uid, word.boot_id) and not has_moved_on else None


def revives(view: FenceView) -> bool:
    """Whether a person's word lets a flow go on that had come to its end: nobody else may begin meanwhile."""
    return view.status.state is State.ERROR and word_of(view) is not None and view.status.evidence.freed_at is None


def is_its_boot(status: FenceStatus, node_uid: str, boot_id: str) -> bool:
    """Whether this is the boot that a flow is about: by its id; where none is told, as far as the Node's uid says."""
    return boot_id == status.boot_id and (bool(boot_id) or node_uid == status.node_uid)


def complaint(view: FenceView) -> tuple[Reason, ...]:
    """What is wrong with a word that somebody gave."""
    word = view.fence.attested
    if isinstance(word, Malformed):
        return (AttestationUnreadable(word.problem),)
    if word is None or not view.fence.is_begun or word_of(view) is not None:
        return ()
    return (AttestationOfAnotherBoot(view.name, word.by),) if not view.fence.is_final else ()


def prove(view: FenceView, word: Attestation, now: Now) -> Attested | None:
    """The proof by a word that speaks of this flow's boot, for the Node that this boot has now."""
    assert isinstance(view.node_entry, Present)
    return safety.attested_by(view.node_entry, structs.replace(word, node_uid=view.node_entry.obj.uid), now)
