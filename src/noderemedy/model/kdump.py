"""A node that dumps its memory: it says so to whoever listens. The message can be forged (race R39): it proves nothing.

Entered by the program that listens, beside the Node whose address the messages came from; read before power management.
"""

from __future__ import annotations

from noderemedy.model.facts import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.time import Mono

KDUMP, UNHEARD = Kind(FACTS, "KdumpSeen"), Kind(FACTS, "DumpsUnheard")
UNHEARD_AT = Ref("", UNHEARD, "", "dumps")


class KdumpSeen(FactValue, frozen=True):
    """Messages of one dump: when the first and the last one came."""

    node: Ref
    first: Mono
    last: Mono


class DumpsUnheard(FactValue, frozen=True):
    """Entered by a program that could listen and does not: whatever a crash kernel says, it hears nothing."""


def kdump_ref(node: Ref) -> Ref:
    """Beside the Node of that name."""
    return Ref(node.cluster, KDUMP, "", node.name)
