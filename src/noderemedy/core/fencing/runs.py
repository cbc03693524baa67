"""Runs of fence agents, as a NodeFence orders and reads them. The only place that knows how a run stands.

Called by the steps. Record, act, observe: a run is written into `status.jobs` first, asked for when that was seen, and
known by what its `Run` tells. A run that nobody knows any more may still be under way (race R34): it counts as lost
when all its time is over, and not before.
"""

from __future__ import annotations

from msgspec import structs

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.automaton import STEPS
from noderemedy.core.fencing.disks import ALONE, Peer, chosen, disks_of
from noderemedy.core.fencing.moves import confirm, publish
from noderemedy.core.fencing.scopes import SLEEPERS
from noderemedy.core.fencing.view import FenceView
from noderemedy.model.actions import StartRun
from noderemedy.model.decision import Decision
from noderemedy.model.fenceplan import AgentMethod, Step
from noderemedy.model.nodefence import FenceJob, FenceStatus, digest
from noderemedy.model.reasons import RunEnded, RunLost, RunNoted, RunOrdered, RunUnderWay
from noderemedy.model.run import Deed, Order, Power, Run, RunState
from noderemedy.model.time import MINUTE, Mono, Now, Span, Wall

BEGIN_WITHIN = MINUTE  # what was ordered and has not begun by then does nothing
MARGIN = Span.seconds(30)
SAID_MAX = 500
ASLEEP = (
    "and nobody of this flow saw it on: it may be suspended, and run on when it is switched on; switch it off for good "
    "in its console, and give your word: node-remedy attest"
)
MISTAKEN = "a drill found that its device is another machine's; correct the mapping"
WANTED = {Deed.OFF: Power.OFF, Deed.ON: Power.ON}


def all_time(view: FenceView, job: FenceJob) -> Mono:
    """When a run is over, whatever became of it: by our own clock, from when we learned of it (race R5)."""
    return view.entry.changed_at + BEGIN_WITHIN + job.patience + MARGIN


def over_by(job: FenceJob) -> Wall:
    """The same by the clock of whoever recorded it, for people, and for what followed from it."""
    return job.since + BEGIN_WITHIN + job.patience + MARGIN


def name_of(view: FenceView, step: Step, method: str, deed: Deed, attempt: int, now: Now) -> str:
    """The name of one run, recorded before it begins. Its moment is in it: the number of a start may come again.

    What an earlier flow learnt by a run of the same name would pass for the answer of a device that nobody asked.
    """
    parts = (view.fence.uid, view.status.restarts, step.value, method, deed.value, attempt, now.wall)
    return f"fence-{digest(' '.join(map(str, parts)))}"


def tries(status: FenceStatus, step: Step, method: str, deed: Deed) -> list[FenceJob]:
    """The runs of this method in this flow, in order."""
    mine = (step, method, deed)
    return [job for job in devices.of_this_flow(status) if (job.step, job.method, job.deed) == mine]


def tries_of(view: FenceView, step: Step, method: AgentMethod, deed: Deed) -> list[FenceJob]:
    """The same, without those that were about another device: the configuration may have been changed meanwhile."""
    device = devices.identity(method)
    return [job for job in tries(view.status, step, method.name, deed) if devices.device_of(view, job) == device]


def last_answer(view: FenceView, step: Step, method: AgentMethod) -> Run | None:
    """What the device said when it was asked last, if this manager was the one who asked, and it can be believed."""
    if devices.may_sleep(view, method):
        return None
    asked = [job for job in tries_of(view, step, method, Deed.STATUS) if job.state is RunState.DONE]
    return view.run(asked[-1]) if asked else None


def last_answers(view: FenceView, step: Step, methods: tuple[AgentMethod, ...]) -> tuple[tuple[str, Run | None], ...]:
    """The same for several methods, by their names."""
    return tuple((one.name, last_answer(view, step, one)) for one in methods)


def order(view: FenceView, step: Step, method: AgentMethod, deed: Deed, now: Now) -> Decision:
    """Record one more run. What only asks takes the place of what was asked before: the list stays short."""
    status = view.status
    before = tries(status, step, method.name, deed)
    attempt = before[-1].attempt + 1 if before else 0
    asked = tries_of(view, step, method, deed) if deed is Deed.STATUS else []
    kept = tuple(job for job in status.jobs if not (job in asked and is_answered(job)))
    id = name_of(view, step, method.name, deed, attempt, now)
    job = FenceJob(id, step, method.name, deed, now.wall, method.patience, status.restarts, attempt)
    wanted = structs.replace(status, jobs=(*kept, structs.replace(job, device=devices.identity(method))))
    return publish(view, wanted, RunOrdered(view.name, method.name, deed.value))


def is_answered(job: FenceJob) -> bool:
    """Whether a question has its answer, and the next one may take its place. That a machine was seen on stays."""
    return job.state is RunState.DONE and not is_sight(job)


def is_sight(job: FenceJob) -> bool:
    """Whether it is the look that showed a machine on before it was told anything."""
    return job.deed is Deed.STATUS and job.was_on and job.power is Power.ON


def open_run(view: FenceView, now: Now) -> Decision | None:
    """What is to be done about the run that was ordered last; None if none is open."""
    job = next((one for one in view.status.jobs if one.is_open), None)
    if job is None:
        return None
    run = view.run(job)
    if run is not None and run.state is not RunState.RUNNING:
        return record(view, known(view, job, run), now)
    if now.mono >= all_time(view, job):
        return lost(view, job, now)
    if run is not None and run.is_sure:
        return under_way(view, job)
    is_ours = view.term is not None and job.token == view.term.token
    if is_ours and now.wall < job.since + BEGIN_WITHIN:
        return begin(view, job, now)
    return Decision((), (RunLost(job.method, job.deed.value, over_by(job)),), all_time(view, job))


def begin(view: FenceView, job: FenceJob, now: Now) -> Decision:
    """Ask for a run that is recorded, on what was read just now. One that is not wanted any more is not begun."""
    method = view.agent(job.method)
    if method is None:
        return never(view, job, "the configuration has no such method any more", now)
    if devices.device_of(view, job) != devices.identity(method):
        return never(view, job, "the configuration names another device by now", now)
    if view.plan is not None and view.plan.problems:
        return never(view, job, "the fence configuration is broken", now)
    if is_ending(job) and (why := unwanted(view) or (MISTAKEN if devices.is_mistaken(view, method) else "")):
        return never(view, job, why, now)
    if carrier(view, job, method) is None and disks_of(method):
        return never(view, job, ALONE, now)
    node = [(view.node_at, view.node_entry)] if is_ending(job) else []
    if asked := confirm(now, (view.ref, view.entry), *node):
        return asked
    return under_way(view, job, StartRun(view.ref, view.guard, an_order(view, job, method)))


def under_way(view: FenceView, job: FenceJob, *start: StartRun) -> Decision:
    return Decision(start, (RunUnderWay(job.method, job.deed.value),), all_time(view, job))


def is_ending(job: FenceJob) -> bool:
    """Whether it ends the node's present boot, or cuts it off."""
    return job.deed is Deed.OFF


def unwanted(view: FenceView) -> str:
    """Why nothing is to be switched off any more; "" if it is."""
    if view.fence.deleting or view.fence.spec.stopped:
        return "the fence was called off"
    return "" if view.is_same_boot else "the node is another one, or has booted meanwhile"


def an_order(view: FenceView, job: FenceJob, method: AgentMethod) -> Order:
    status, peer = view.status, carrier(view, job, method)
    return Order(
        id=job.id,
        fence=view.ref,
        fence_uid=view.fence.uid,
        node=view.name,
        node_uid=status.node_uid,
        boot_id=status.boot_id,
        token=job.token,
        method=method.name,
        agent=method.agent,
        deed=job.deed,
        parameters=method.parameters,
        secrets=method.secrets,
        patience=job.patience,
        not_after=job.since + BEGIN_WITHIN,
        bound_to=peer.node if peer else "",
        own_key=peer.key if peer else "",
    )


def carrier(view: FenceView, job: FenceJob, method: AgentMethod) -> Peer | None:
    """The node that has to run it, as it has the disks: the node itself when it is back, or one that shares them."""
    if method.on_target and (job.deed is Deed.ON or job.step is Step.RECOVERY):
        return Peer(view.name, "", "")
    return chosen(view.peers, method, job.attempt + job.restart * (view.fence.spec.step_retries + 1))


def known(view: FenceView, job: FenceJob, run: Run) -> FenceJob:
    """What came of a run, as far as it can be believed."""
    method = view.agent(job.method)
    if method is None or method.agent not in SLEEPERS or job.step is not Step.POWER_MANAGEMENT:
        return told(structs.replace(job, was_on=run.was_on), run.state, run.power, run.said)
    is_seen = devices.is_seen_on(view, devices.device_of(view, job), job)
    return told_of_sleeper(job, run, is_seen=is_seen, node=view.name)


def told_of_sleeper(job: FenceJob, run: Run, *, is_seen: bool, node: str) -> FenceJob:
    """The same of a machine that is called off when it is suspended. Each record says whether it was seen on before:
    whoever takes over, or begins anew, knows it from the one that is left.
    """
    is_off = run.state is RunState.DONE and run.power is Power.OFF
    if job.deed is Deed.ON:
        return structs.replace(told(job, run.state, run.power, run.said), was_on=is_seen and run.power is Power.OFF)
    if job.deed is Deed.STATUS and run.state is RunState.DONE and run.power is Power.ON and not is_seen:
        return structs.replace(job, state=run.state, power=run.power, said=run.said[:SAID_MAX], was_on=True)
    if is_off and not is_seen:
        return told(job, RunState.FAILED, Power.UNKNOWN, f"{run.said}, {ASLEEP} {node}")
    return told(structs.replace(job, was_on=is_seen), run.state, run.power, run.said)


def told(job: FenceJob, state: RunState, power: Power, said: str) -> FenceJob:
    """A run with its result. That an agent succeeded is not enough: the device must say what it should."""
    is_check = job.deed is Deed.STATUS and job.step is not Step.RECOVERY  # whether it is off, and stays so
    wanted = Power.OFF if is_check else WANTED.get(job.deed)
    is_contradicted = state is RunState.DONE and wanted is not None and power is not wanted
    state = RunState.FAILED if is_contradicted else state
    said = f"the device says {power.value} afterwards" if is_contradicted else said
    return structs.replace(job, state=state, power=power, said=said[:SAID_MAX])


def record(view: FenceView, job: FenceJob, now: Now) -> Decision:
    """Write down how a run ended."""
    jobs = tuple(job if one.id == job.id else one for one in view.status.jobs)
    evidence = view.status.evidence
    is_off = job.deed is Deed.OFF and job.step is Step.POWER_MANAGEMENT and job.state is RunState.DONE
    if is_off and devices.are_off(view, jobs):
        evidence = structs.replace(evidence, off_at=evidence.off_at or now.wall)
    wanted = structs.replace(view.status, jobs=jobs, evidence=evidence)
    told = RunNoted if is_told_otherwise(view, job) else RunEnded
    return publish(view, wanted, told(view.name, job.method, job.deed.value, job.state.value, job.said, job.since))


def is_told_otherwise(view: FenceView, job: FenceJob) -> bool:
    """Whether people are told what follows: by the proof that an answer makes, or by the failure of its step."""
    is_counted = job.step is STEPS.get(view.status.state) and not view.fence.deleting and not view.fence.spec.stopped
    return job.deed is Deed.STATUS or (is_counted and job.state is RunState.FAILED)


def lost(view: FenceView, job: FenceJob, now: Now) -> Decision:
    """Nobody knows what became of it, and it cannot be under way any more."""
    ended = structs.replace(job, state=RunState.FAILED, said="nobody knows what became of it", is_lost=True)
    return record(view, ended, now)


def never(view: FenceView, job: FenceJob, why: str, now: Now) -> Decision:
    """It was recorded and is not begun: nothing was sent. One that may run all the same is waited for."""
    if view.run(job) is not None:
        return under_way(view, job)
    return record(view, structs.replace(job, state=RunState.FAILED, said=f"not begun: {why}"), now)
