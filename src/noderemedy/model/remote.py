"""Where the Nodes of a Cluster are, and whether they can be seen just now. Programs find out, rooms judge by it.

It enters the cache as a pseudo-object beside the Cluster of its name: nobody writes it, and whoever watches its kind
is woken when it changes. A Cluster without one (files, or nobody looks) has its Nodes here; a Machine without its
Cluster has its node nobody knows where (`core/machines.py`).
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from noderemedy.model.decision import FactValue
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.time import Mono

REMOTE = Kind(FACTS, "Remote")


class Sight(Enum):
    """What is known of a cluster's Nodes."""

    UNKNOWN = "unknown yet"  # nobody has found out where they are
    HOME = "self-managed"  # in this API: there is no kubeconfig secret, or it leads here
    YOUNG = "not initialised"  # its control plane is not up, so nobody has tried
    SEEN = "connected"  # in an API of their own, and all of them are known
    LOST = "unreachable"  # in an API of their own that cannot be seen


class Remote(FactValue, frozen=True):
    """What is known of one cluster; `why` is for people and never holds what a secret says."""

    sight: Sight
    why: str = ""
    since: Mono = Mono(0)  # of this sight


@lru_cache(maxsize=1_000)
def remote_ref(namespace: str, name: str) -> Ref:
    """Beside the Cluster of that name. Asked for with every look at a Machine."""
    return Ref("", REMOTE, namespace, name)


def cluster_name(namespace: str, name: str) -> str:
    """As `Ref.cluster` names it."""
    return f"{namespace}/{name}"
