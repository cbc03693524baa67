"""Laws of Metal3Remediations over random worlds: decisions are reproducible, come to rest, and phases are in order."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NODE_AT, REMEDIATION_AT, a_host, a_machine, a_node, ago, later
from tests.core.metal3.remediations import (
    BACK,
    EVIDENCE,
    GRANTED,
    HOLDER,
    NO_PODS,
    NO_VOLUMES,
    SICK,
    UID,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    decided,
)

from noderemedy.core.freeing import OUT_OF_SERVICE
from noderemedy.core.metal3 import phases
from noderemedy.model.actions import (
    Action,
    BackUpNode,
    ClaimRepair,
    DeleteNode,
    HoldHost,
    MarkHostUnhealthy,
    PublishRemediationStatus,
    ReleaseHost,
    TaintOutOfService,
    UntaintOutOfService,
    WriteFinalizers,
    WriteMachineConditions,
)
from noderemedy.model.decision import Decision
from noderemedy.model.host import Power
from noderemedy.model.ids import Ref
from noderemedy.model.machineconditions import MachineConditions
from noderemedy.model.meta import Paused
from noderemedy.model.node import OutOfService
from noderemedy.model.remediation import FINALIZER, Metal3Remediation, Phase, Strategy
from noderemedy.model.time import Span
from noderemedy.model.workload import FreeBy

LOOKS = 12  # at one moment; the longest way is from freeing to power-on to released and called over
AGES = (1, 60, 121, 301, 601, 1_801, 9_999)
EVIDENCES = (
    EVIDENCE,
    replace(EVIDENCE, off_at=ago(60)),
    *(replace(EVIDENCE, off_at=ago(60), free_by=by, proof="PoweredOff", tainted_at=ago(5)) for by in FreeBy),
)
NODES = (
    SICK,
    SICK,
    BACK,
    a_node(),
    None,
    replace(
        a_node(ready="Unknown", taints=(OUT_OF_SERVICE,)),
        out_of_service=OutOfService("metal3-remediation", "metal/worker-0", UID, "boot-1"),
    ),
    replace(SICK, deleting=True),
)
HOSTS = (
    *(a_held_host(power) for power in Power),
    *(a_host(power=power) for power in Power),
    a_held_host(was_on=False),
    a_held_host(uid="another"),
    replace(a_host(), online=False),
    replace(a_held_host(), paused=True),
    replace(a_held_host(), consumer=None),
)
MACHINES = (a_machine(), a_machine(), a_machine(), replace(a_machine(), deleting=True), None)


def some_remediation(chance: Random) -> Metal3Remediation:
    phase = chance.choice(list(Phase))
    made = a_remediation(
        phase,
        seconds=chance.choice(AGES),
        attempt=chance.choice((1, 2, 3)),
        evidence=chance.choice(EVIDENCES),
        recovered=phase is Phase.WAITING and chance.random() < 0.2,
        strategy=chance.choice(list(Strategy)),
        free_by=chance.choice((None, *FreeBy)),
        deleting=chance.random() < 0.25,
    )
    return replace(made, paused=Paused()) if chance.random() < 0.1 else made


class Moment:
    """One machine with its request at one moment; what is asked for is done at once, and time stands still."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        self.objects: dict[Ref, Any] = a_world(
            some_remediation(chance),
            host=chance.choice(HOSTS),
            node=chance.choice(NODES),
            machine=chance.choice(MACHINES),
        )
        if chance.random() < 0.3:  # where most can go wrong: off, and about to be freed
            doomed = a_remediation(Phase.FREEING, evidence=chance.choice(EVIDENCES))
            self.objects = a_world(doomed, host=a_held_host(), node=chance.choice(NODES))
        self.told = GRANTED if chance.random() < 0.8 else None
        self.holder: str | None = HOLDER if chance.random() < 0.8 else None

    def look(self) -> Decision:
        reader = a_reader(self.objects, pods=NO_PODS, volumes=NO_VOLUMES, told=self.told, holder=self.holder)
        return decided(REMEDIATION_AT, reader)

    def change(self, at: Ref, **changes: Any) -> None:
        self.objects[at] = replace(self.objects[at], **changes)

    def apply(self, action: Action) -> None:
        match action:
            case ClaimRepair():
                self.holder = action.holder
            case WriteFinalizers(finalizers=kept):
                self.change(REMEDIATION_AT, finalizers=kept)
                if self.objects[REMEDIATION_AT].deleting and FINALIZER not in kept:
                    del self.objects[REMEDIATION_AT]
            case PublishRemediationStatus(progress=progress):
                self.change(REMEDIATION_AT, progress=progress)
            case HoldHost(hold=hold):
                self.change(HOST_AT, held_for=((UID, hold),))
            case ReleaseHost():
                self.change(HOST_AT, held_for=())
            case MarkHostUnhealthy(names=keys, mark=mark):
                self.change(HOST_AT, unhealthy=(*self.objects[HOST_AT].unhealthy, *((key, mark) for key in keys)))
            case TaintOutOfService(taints=taints, by=by):
                self.change(NODE_AT, taints=taints, out_of_service=by)
            case UntaintOutOfService(taints=taints):
                self.change(NODE_AT, taints=taints, out_of_service=None)
            case BackUpNode(backup=backup, deleted_at=at):
                self.change(MACHINE_AT, backup=backup, node_deleted_at=at)
            case DeleteNode():
                del self.objects[NODE_AT]
            case WriteMachineConditions(current=current, older=older):
                self.change(MACHINE_AT, told=MachineConditions(current, older))
            case _:
                raise AssertionError(f"nobody expects {action}")


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100)
@given(seeds)
def test_the_same_world_is_decided_alike(seed: int) -> None:
    """Nothing but the view and the moment has a say, and at most one thing is freed at a time."""
    once, again = Moment(seed).look(), Moment(seed).look()

    assert once == again
    assert 1 >= sum(isinstance(action, DeleteNode | TaintOutOfService) for action in once.actions)


@settings(max_examples=100)
@given(seeds)
def test_it_comes_to_rest(seed: int) -> None:
    """At one moment no more than a few writes follow each other; then there is a reason, a deadline, or an end."""
    moment = Moment(seed)
    for _ in range(LOOKS):
        if REMEDIATION_AT not in moment.objects:
            return
        decision = moment.look()
        if not decision.actions:
            break
        for action in decision.actions:
            moment.apply(action)

    assert () == decision.actions
    assert () == moment.look().actions, "idle means zero writes"


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.NEW])
def test_every_phase_but_the_last_has_a_limit(phase: Phase) -> None:
    """Whoever enters it waits for some time, never for ever and never for none."""
    limit = phases.limit(a_remediation(phase))

    assert (limit is None) == (phase is Phase.FAILED)
    assert limit is None or limit > Span(0)


@settings(max_examples=100)
@given(seeds, st.integers(0, 100_000))
def test_a_phase_begins_when_it_is_entered(seed: int, seconds: int) -> None:
    """Its recorded start is that moment, whatever came before."""
    remediation, now = some_remediation(Random(seed)), later(seconds)
    follows = phases.TABLE[remediation.progress.phase].follows

    assert [now.wall] * len(follows) == [phases.enter(remediation, phase, now).since for phase in follows]


@settings(max_examples=100)
@given(st.integers(1, 10_000))
def test_pauses_never_shrink(attempt: int) -> None:
    """The next attempt is never sooner than the one before, and never later than an hour."""
    tries = [a_remediation(Phase.WAITING, attempt=one, strategy=Strategy.REBOOT) for one in (attempt, attempt + 1)]
    first, second = map(phases.pause, tries)

    assert first <= second <= phases.PAUSE_MAX
