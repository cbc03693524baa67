"""How long things take in the simulated world. `faster` shortens them all; clocks always run at their own rate."""

from __future__ import annotations

from msgspec import Struct, structs


class Durations(Struct, frozen=True):
    """Milliseconds, with the values of a production cluster."""

    heartbeat: int = 300_000  # kubelet posts its status this often if nothing changed
    grace: int = 50_000  # the node lifecycle controller waits this long for a lease
    eviction: int = 300_000  # default toleration of an unreachable node
    orphaned_pods: int = 40_000  # the pod garbage collector waits this long after a Node went
    out_of_service: int = 20_000  # the pod garbage collector looks this often for pods of nodes out of service
    schedule: int = 200
    attach: int = 2_000
    pod_start: int = 3_000
    pod_stop: int = 2_000
    controller: int = 100  # a controller's reaction
    power_off: int = 6_000
    power_on: int = 8_000
    power_poll: int = 60_000  # `poweredOn` may lag this much
    boot: int = 90_000
    mark_after: int = 60_000  # how long a node may be sick before its health check asks for a repair
    provision: int = 30_000  # a cloud makes an instance
    deprovision: int = 15_000  # and ends one
    startup: int = 900_000  # how long a Machine may be without its Node

    def faster(self, speed: float) -> Durations:
        """The same world, `speed` times as quick."""
        changes = {name: max(1, round(getattr(self, name) / speed)) for name in self.__struct_fields__}
        return structs.replace(self, **changes)
