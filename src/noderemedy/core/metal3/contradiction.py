"""A boot that reports, or begins, although its host was seen off: the host of a Metal3Remediation is another machine's
(fault 55).

Nothing that the host says is about that boot, also when it falls silent in a later attempt. Not once more: the next
attempt would switch the same wrong machine off, and the owner would be asked to replace it. A person corrects the
host and removes the request, or attests that the node is off; another boot is another matter.

Rule 1: whether that is so, is one question (`is_known`): a gate before an attempt and before the owner's turn.
Rule 2: nothing is recorded that was not read live just now: a watch may lag, and a record stays.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core import safety
from noderemedy.core.metal3 import offsight, phases
from noderemedy.core.metal3.remediationview import RemediationView
from noderemedy.core.metal3.steps import confirm_first, publish
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.node import Node
from noderemedy.model.proof import is_word
from noderemedy.model.reasons import HostContradicted
from noderemedy.model.remediation import Evidence, Phase
from noderemedy.model.room import Unreadable, Unseen
from noderemedy.model.time import Now


def go_on(view: RemediationView, now: Now) -> Decision:
    """Power comes back with nothing freed, and with what the next attempt must know."""
    return publish(view, phases.enter(view.remediation, Phase.POWER_ON, now, noticed(view, now)), told(view))


def stays(view: RemediationView, now: Now) -> Decision | None:
    """Before the next attempt: the alert, for as long as it is that boot; None where nothing is contradicted.

    Who was proven off, and is heard again without having booted, was never off.
    """
    evidence, node = view.remediation.progress.evidence, view.node
    if is_known(view):
        return Decision(because=(told(view),))
    if node is None or not offsight.is_that_boot(evidence, node):
        return None
    was_proven = bool(evidence.proof) and not is_word(evidence.proof) and bool(evidence.boot_id)
    if not was_proven or not (node.is_heard or has_outlived(evidence, node, now)):
        return None
    noted = phases.noted(view.remediation, noticed(view, now))
    return confirm_first(view, now, node=True) or publish(view, noted, told(view))


def is_known(view: RemediationView) -> bool:
    """Whether that is on record for the boot that is there. A Node that cannot be seen just now may be that one."""
    evidence, of = view.remediation.progress.evidence, view.machine
    if evidence.contradicted_at is None or of is None:
        return False
    is_hidden = isinstance(of.node_entry, Unreadable | Unseen)
    return is_hidden or (of.node is not None and offsight.is_that_boot(evidence, of.node))


def has_outlived(evidence: Evidence, node: Node, now: Now) -> bool:
    """Whether it was heard long after its host was seen off."""
    return evidence.off_at is not None and safety.has_outlived(node, evidence.off_at, now)


def has_booted(view: RemediationView) -> bool:
    """Whether another boot is there than the one that a live read has shown when its host was off: it runs elsewhere.

    Where nobody could look then, it may have booted on its way off. And only a hold of a host that was on makes "off"
    news: the other one may have been on for a minute more.
    """
    evidence, node = view.remediation.progress.evidence, view.node
    if evidence.boot_read_at is None or node is None or not (evidence.boot_id and node.boot_id):
        return False
    is_off = view.host.power is Power.OFF and safety.is_held(view.host, view.remediation.uid)
    return is_off and evidence.boot_id != node.boot_id


def noticed(view: RemediationView, now: Now) -> Evidence:
    """About the boot that speaks against its host, and the Node object that it has by now."""
    evidence, node = view.remediation.progress.evidence, view.node
    assert node is not None
    boot_id = node.boot_id or evidence.boot_id
    return structs.replace(evidence, node_uid=node.uid, boot_id=boot_id, contradicted_at=now.wall)


def told(view: RemediationView) -> HostContradicted:
    return HostContradicted(view.host_name, view.node_name)
