"""What a trouble did: a look at servers, managers and API before and after it. Asked by `Troubles`.

A trouble that found nothing to do (an autoscaler without a cloud) is none. One that touched a few nodes is outlived
only when the repair of one of them has ended well (`aftermath.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from noderemedy.model.ids import HOST, NODE, REMEDIATION, Kind
from noderemedy.sim.cluster import Cluster, host_of, machine_of
from noderemedy.sim.kinds import POD
from noderemedy.sim.process import Process
from noderemedy.sim.server import Server

FEW = 3  # more nodes than that are nobody in particular
# What changes only how somebody behaves from now on: it is seen nowhere else, and never finds nothing to do.
UNSEEN = {"namespace_terminates", "deletions_fail", "instances_linger", "cloud_exhausted", "deletions_take_long"}


class Look(Struct, frozen=True):
    """Everything at one moment."""

    revision: int
    servers: dict[str, tuple[object, ...]]
    managers: list[tuple[object, ...]]


class Touching:
    """Compares."""

    def __init__(self, cluster: Cluster, processes: list[Process]) -> None:
        self.cluster = cluster
        self.processes = processes

    def look(self) -> Look:
        servers = {**self.cluster.servers, **self.cluster.provider.instances}
        return Look(
            self.cluster.api.store.revision,
            {name: state_of(server) for name, server in servers.items()},
            [(one.is_alive, one.is_paused, one.always_leads, one.skew_ms, one.weather) for one in self.processes],
        )

    def since(self, before: Look) -> set[str] | None:
        """The nodes that were touched; nobody in particular if it was none, or many; None if nothing has changed."""
        now = self.look()
        nodes = {name for name, state in now.servers.items() if before.servers.get(name) != state}
        written = now.revision - before.revision - len(list(self._written(POD, before)))  # who moves a pod prepares
        if not nodes and not written and now.managers == before.managers:
            return None
        for kind in (NODE, HOST, REMEDIATION, self.cluster.dialect.machine):
            nodes.update(node_of(name) for name in self._written(kind, before))
        nodes &= now.servers.keys()
        return nodes if len(nodes) <= FEW else set()

    def _written(self, kind: Kind, before: Look) -> Iterable[str]:
        """Names of what was changed. Of an instance of the cloud that goes nothing is left to be repaired."""
        for change in self.cluster.api.store.since(kind, before.revision):
            meta = change.new["metadata"]
            is_going = change.type == "DELETED" or "deletionTimestamp" in meta
            if not is_going or node_of(meta["name"]) in self.cluster.servers or kind == POD:
                yield str(meta["name"])


def state_of(server: Server) -> tuple[object, ...]:
    bmc = server.bmc
    return (
        *(server.has_power, server.kernel, server.boots, server.is_linked, server.is_unwell, server.is_broken),
        *(server.is_spared, bmc.answers, bmc.obeys_off, bmc.obeys_on),
    )


def node_of(name: str) -> str:
    """The node that an object of this name is about."""
    for prefix in (machine_of(""), host_of(""), "node-fence-"):
        name = name.removeprefix(prefix)
    return name
