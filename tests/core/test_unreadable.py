"""What cannot be read any more is found as it was: a pause holds on, and whoever goes first still does."""

from __future__ import annotations

from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NOW, REMEDIATION_AT, a_host, a_machine, ago
from tests.core.fencing.test_escalation import REQUEST_AT
from tests.core.metal3.remediations import a_remediation

from noderemedy.core import leftalone
from noderemedy.core.fencing import requestview
from noderemedy.core.metal3 import remediationview
from noderemedy.engine.cache import Cache
from noderemedy.model.cluster import Cluster
from noderemedy.model.fenceremediation import FenceRemediation
from noderemedy.model.ids import CLUSTER, Ref, ref
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.outcome import Seen
from noderemedy.model.remediation import Phase
from noderemedy.model.room import Unreadable, known

CLUSTER_AT = ref(CLUSTER, "lab", MACHINE_AT.namespace)
MACHINE = replace(a_machine(), cluster_name="lab")
OWNED = ControllerOwner("cluster.x-k8s.io/v1beta1", "Machine", MACHINE_AT.name, MACHINE.uid)


def a_cache() -> Cache:
    """A cache in which nothing is yet."""
    return Cache((*remediationview.INDEXES, *requestview.INDEXES))


def put(cache: Cache, at: Ref, obj: object, version: str = "1") -> None:
    cache.put(Seen(at, getattr(obj, "uid", ""), version, obj), NOW.mono)


def garble(cache: Cache, at: Ref) -> None:
    """It does not decode any more."""
    cache.set_aside(at, Unreadable(known(cache.read(at)).uid, "9", "garbled"))


def test_the_pause_of_a_cluster_holds_on() -> None:
    """Its Cluster does not decode; nobody knows that its pause is over."""
    cache = a_cache()
    put(cache, CLUSTER_AT, Cluster("cluster-uid-1", paused=True))
    garble(cache, CLUSTER_AT)

    assert leftalone.pause_of(MACHINE_AT, MACHINE, cache)


def test_the_host_of_a_paused_machine_is_left_alone() -> None:
    """The Machine does not decode."""
    cache = a_cache()
    host = a_host()
    put(cache, HOST_AT, host)
    put(cache, MACHINE_AT, replace(MACHINE, cluster_paused=True))
    garble(cache, MACHINE_AT)

    assert leftalone.pause_of_host(HOST_AT, host, cache)


def test_a_metal3_remediation_that_goes_first_does_so_unread() -> None:
    """It has begun, and its host may be held at any moment."""
    cache, other = a_cache(), Ref("", REMEDIATION_AT.kind, REMEDIATION_AT.namespace, "first")
    put(cache, REMEDIATION_AT, a_remediation())
    put(cache, other, a_remediation(Phase.POWER_OFF, uid="uid-first", owner=OWNED))
    garble(cache, other)

    assert str(other) == remediationview.rival_of(REMEDIATION_AT, a_remediation(), MACHINE_AT, cache)


def test_a_fence_remediation_that_goes_first_does_so_unread() -> None:
    """It is the older one."""
    cache, other = a_cache(), Ref("", REQUEST_AT.kind, REQUEST_AT.namespace, "first")
    young = FenceRemediation("request-uid-1", created=NOW.wall)
    put(cache, REQUEST_AT, young)
    put(cache, other, FenceRemediation("request-uid-0", created=ago(60), owner=OWNED))
    garble(cache, other)

    assert str(other) == requestview.rival_of(REQUEST_AT, young, MACHINE_AT, cache)
