"""Leader election of a simulated process: the pure machine of the engine over the simulated API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noderemedy.engine.leadership import (
    Conflict,
    Do,
    Found,
    Leadership,
    Lease,
    Missing,
    Operation,
    Reply,
    Unsure,
)
from noderemedy.model.ids import LEASE
from noderemedy.model.time import Span
from noderemedy.sim.apiserver import ApiError
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.objects import SYSTEM
from noderemedy.sim.weather import Fate, within
from noderemedy.wire.scalars import read_wall

if TYPE_CHECKING:
    from noderemedy.sim.process import Process

NAME = "node-remedy-manager"
UPDATES = Options(manager="sim", verb="update")


class Candidate:
    """Carries out what the machine asks, with the same bad weather as every other request."""

    def __init__(self, leadership: Leadership, process: Process) -> None:
        self.leadership = leadership
        self.process = process
        self._known: Lease | None = None  # as it was read last

    def release(self) -> None:
        self.leadership.release(self.process.now())
        self.poll()

    def poll(self) -> None:
        process = self.process
        if not process.is_alive or process.is_paused:
            return
        now = process.now()
        step = self.leadership.poll(now)
        same = process.alive_since()
        if step.operation is not None:
            operation = step.operation
            delay = within(process.weather.latency, process.chance)
            process.agenda.after(delay, lambda: self._arrive(operation, same))
        else:
            process.agenda.at(step.wake_at.ms, lambda: self.poll() if same() else None)

    def _arrive(self, operation: Operation, same: Any) -> None:
        process = self.process
        fate = process.weather.fate(process.chance)
        lost = fate in (Fate.ANSWER_LOST, Fate.NEVER_ARRIVED)
        reply: Reply = Unsure() if fate is not Fate.FINE else self.carry_out(operation)
        if fate in (Fate.ANSWER_LOST, Fate.BROKEN_APPLIED):
            self.carry_out(operation)
        delay = process.weather.time_out if lost else within(process.weather.latency, process.chance)
        process.agenda.after(delay, lambda: process.when_running(lambda: self._answered(operation, reply, same)))

    def _answered(self, operation: Operation, reply: Reply, same: Any) -> None:
        if not same():
            return
        could = self.leadership.may_act(self.process.now())
        self.leadership.answered(operation, self.process.now(), reply)
        if not could and self.leadership.may_act(self.process.now()):
            self.process.took_over()
        self.poll()

    def carry_out(self, operation: Operation) -> Reply:
        """One operation on the Lease of the simulated API."""
        api = self.process.cluster.api
        try:
            if operation.do is Do.READ:
                return Found(self._read(api.get(LEASE, NAME, SYSTEM)))
            assert operation.lease is not None
            tree = render(operation.lease)
            if operation.do is Do.CREATE:
                return Found(self._read(api.create(tree)))
            stored = api.find(LEASE, NAME, SYSTEM)
            if stored is not None and is_renewal(stored, tree):
                return Found(self._read(api.renew(LEASE, stored, "spec", tree["spec"], UPDATES)))
            return Found(self._read(api.update(tree)))
        except ApiError as error:
            return Missing() if error.code == 404 else Conflict()

    def _read(self, tree: dict[str, Any]) -> Lease:
        """The Lease; a version that was read before means the same again."""
        if self._known is None or self._known.version != tree["metadata"]["resourceVersion"]:
            self._known = read(tree)
        return self._known


def is_renewal(stored: dict[str, Any], tree: dict[str, Any]) -> bool:
    """Whether an update of the very version that is stored says nothing that was not said before."""
    version: str = stored["metadata"]["resourceVersion"]
    before: dict[str, Any] = stored["spec"]
    return bool(tree["metadata"].get("resourceVersion") == version and before.keys() == tree["spec"].keys())


def render(lease: Lease) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": NAME, "namespace": SYSTEM}
    if lease.version:
        metadata["resourceVersion"] = lease.version
    moments = {"acquireTime": f"{lease.acquired}"[:-1] + ".000000Z", "renewTime": f"{lease.renewed}"[:-1] + ".000000Z"}
    spec = {
        "holderIdentity": lease.holder,
        "leaseTransitions": lease.transitions,
        "leaseDurationSeconds": max(1, lease.duration.ms // 1000),
        **moments,
    }
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def read(tree: dict[str, Any]) -> Lease:
    spec = tree["spec"]
    acquired, renewed = read_wall(spec["acquireTime"]), read_wall(spec["renewTime"])
    return Lease(
        spec.get("holderIdentity", ""),
        spec.get("leaseTransitions", 0),
        Span(spec["leaseDurationSeconds"] * 1000),
        acquired,  # type: ignore[arg-type]
        renewed,  # type: ignore[arg-type]
        tree["metadata"]["resourceVersion"],
    )
