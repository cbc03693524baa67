"""Builders for NodeFences, plans and runs: the tests of fencing say only what matters to them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import NODE_AT, ago

from noderemedy.model.fenceplan import AgentMethod, Builtin, BuiltinMethod, FencePlan, PlanProblem, Scope, Step
from noderemedy.model.nodefence import FINALIZER, FenceJob, FenceSpec, FenceStatus, NodeFence, State, fence_ref
from noderemedy.model.run import Deed, Power, RunState
from noderemedy.model.time import Span

FENCE_AT = fence_ref(NODE_AT)
UID = "fence-uid-1"
STEP_OF = {
    State.NEW: Step.ISOLATION,
    State.RUNNING: Step.POWER_MANAGEMENT,
    State.DONE: Step.RECOVERY,
    State.FINAL: Step.RECOVERY,
    State.ERROR: Step.POWER_MANAGEMENT,
}
CORDON = BuiltinMethod("mark-unschedulable", Builtin.MARK_UNSCHEDULABLE)
UNCORDON = BuiltinMethod("mark-schedulable", Builtin.MARK_SCHEDULABLE)


def an_agent(name: str = "ipmi", *deeds: Deed, **more: Any) -> AgentMethod:
    return AgentMethod(
        name=name,
        agent=more.pop("agent", "fence_ipmilan"),
        deeds=deeds or (Deed.OFF, Deed.ON),
        scope=more.pop("scope", Scope.POWER),
        parameters=more.pop("parameters", (("ip", "192.0.2.7"), ("username", "admin"))),
        **more,
    )


IPMI = an_agent()


def a_plan(problems: tuple[str, ...] = (), **more: Any) -> FencePlan:
    """Cordon, power cycle by IPMI, uncordon."""
    base = FencePlan(NODE_AT, (CORDON,), (IPMI,), (UNCORDON,), source="ConfigMap fence-config-worker-0")
    return replace(base, problems=tuple(map(PlanProblem, problems)), **more)


def a_status(state: State = State.NEW, **more: Any) -> FenceStatus:
    """A flow that began ten minutes ago."""
    begun = {"since": ago(60), "started": ago(600), "node_uid": "node-uid-1", "boot_id": "boot-1", "episode": "e" * 10}
    return FenceStatus(**{"state": state, "step": STEP_OF[state], **begun, **more})


def a_fence(state: State | None = None, **more: Any) -> NodeFence:
    """Without a state nobody has begun with it."""
    status = {key: more.pop(key) for key in tuple(more) if key in FenceStatus.__struct_fields__}
    spec = {key: more.pop(key) for key in tuple(more) if key in FenceSpec.__struct_fields__}
    return NodeFence(
        uid=UID,
        spec=FenceSpec(**{"node": NODE_AT.name, "power_management_delay": Span(0), **spec}),
        status=a_status(state, **status) if state is not None else FenceStatus(**status),
        finalizers=more.pop("finalizers", (FINALIZER,)),
        created=more.pop("created", ago(600)),
        generation=more.pop("generation", 1),
        **more,
    )


def a_job(method: str = "ipmi", deed: Deed = Deed.OFF, **more: Any) -> FenceJob:
    base = FenceJob("fence-0123456789", Step.POWER_MANAGEMENT, method, deed, ago(10), Span.seconds(120), token=7)
    return replace(base, **more)


def done(method: str = "ipmi", deed: Deed = Deed.OFF, **more: Any) -> FenceJob:
    power = {Deed.OFF: Power.OFF, Deed.ON: Power.ON, Deed.STATUS: Power.OFF}[deed]
    return a_job(method, deed, **{"state": RunState.DONE, "power": power, **more})
