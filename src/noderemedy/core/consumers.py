"""The shared shelf: which Machine a BareMetalHost says that it serves, in `spec.consumerRef`. Names are claims.

Asked by every room that holds a host off: that proves something about the node of this very Machine, and of no other
(race R49). A Machine is named itself, or through the Metal3Machine that it owns, by name and by uid: a Metal3Machine
of a former Machine of that name does not count, nor one whose owner nobody knows.
"""

from __future__ import annotations

from noderemedy.core.machines import MACHINE_KINDS
from noderemedy.model.host import Consumer, Host
from noderemedy.model.ids import MACHINE, METAL3_MACHINE, Ref
from noderemedy.model.machine import Machine, Metal3Machine
from noderemedy.model.room import Absent, Entry, Present, Reader, known


def is_consumed_by(host: Host, host_at: Ref, machine: Machine, machine_at: Ref, reader: Reader) -> bool:
    """Whether the host says that it serves this very Machine."""
    if host.consumer is None or machine_at not in machine_of_consumer(host_at, host.consumer, reader):
        return False
    middle = between(host_at, host.consumer, reader)
    return middle is None or middle.owner_uid == machine.uid


def consumer_refs(host: Ref, consumer: Consumer) -> tuple[Ref, ...]:
    """The objects that a consumerRef may mean: Machines of both groups share a kind name."""
    namespace = consumer.namespace or host.namespace
    if consumer.kind == "Metal3Machine":
        return (Ref(host.cluster, METAL3_MACHINE, namespace, consumer.name),)
    if consumer.kind == "Machine":
        kinds = [kind for kind in MACHINE_KINDS if consumer.group in ("", kind.group)]
        return tuple(Ref(host.cluster, kind, namespace, consumer.name) for kind in kinds)
    return ()


def machine_of_consumer(host: Ref, consumer: Consumer, reader: Reader) -> tuple[Ref, ...]:
    """The Machine (by either group's name) that a host's consumerRef leads to, through a Metal3Machine or not."""
    return _through(host, consumer, between(host, consumer, reader))


def last_known(host: Ref, consumer: Consumer, reader: Reader) -> tuple[Ref, ...]:
    """The same, also through a Metal3Machine that cannot be read any more: for whose it is, never for a proof."""
    return _through(host, consumer, known(_middle(host, consumer, reader)))


def between(host: Ref, consumer: Consumer, reader: Reader) -> Metal3Machine | None:
    """The Metal3Machine that a consumerRef names; None if it names none, or none that is there."""
    entry = _middle(host, consumer, reader)
    return entry.obj if isinstance(entry, Present) and isinstance(entry.obj, Metal3Machine) else None


def _middle(host: Ref, consumer: Consumer, reader: Reader) -> Entry:
    is_named = consumer.kind == "Metal3Machine"
    return reader.read(consumer_refs(host, consumer)[0]) if is_named else Absent()


def _through(host: Ref, consumer: Consumer, middle: Metal3Machine | None) -> tuple[Ref, ...]:
    refs = consumer_refs(host, consumer)
    if consumer.kind != "Metal3Machine":
        return refs
    return (owner_ref(refs[0], middle.owner_machine),) if middle is not None and middle.owner_machine else ()


def owner_ref(middle: Ref, owner: str) -> Ref:
    """The Machine that owns a Metal3Machine: OpenShift has none of these."""
    return Ref(middle.cluster, MACHINE, middle.namespace, owner)
