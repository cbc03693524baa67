"""The drill room in a real engine and virtual time: spread, quiet, one device at a time, told when it changes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import HOST_AT, MACHINE_AT, NOW, RESOURCES, a_host, a_machine, a_node
from tests.core.fencing.fences import a_fence, a_plan, an_agent
from tests.core.fencing.orders import an_order

from noderemedy.core.fencing import devices, drilling, results, staleness
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import PublishNodeCondition, StartRun
from noderemedy.model.configmap import ConfigMap
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.drill import FENCING_READY, SCHEDULE_AT, DrillSchedule
from noderemedy.model.fenceplan import AgentMethod, Builtin, BuiltinMethod, FencePlan, Scope, plan_ref
from noderemedy.model.host import Login
from noderemedy.model.ids import CONFIG_MAP, NODE, NODE_FENCE, Ref, ref
from noderemedy.model.node import Condition
from noderemedy.model.outcome import Done, Effect, Key, Seen
from noderemedy.model.reasons import Drilling, FencingNotReady, FencingWasReady, Reason
from noderemedy.model.room import Present, Reader, Room, Stage
from noderemedy.model.run import Deed, Power, Run, RunState, run_ref
from noderemedy.model.time import MINUTE, Now, Span

AT = ref(NODE, "worker-0")
DAY = MINUTE * 60 * 24
OFF, PORT = an_agent("ipmi"), an_agent("fc", parameters=(("ip", "192.0.2.9"),))
HOST_POWER = BuiltinMethod("host-power", Builtin.HOST_POWER)
READY = Condition("Ready", "True", NOW.wall)
PLANS: dict[str, FencePlan] = {}


def _sees(key: Ref, reader: Reader) -> FencePlan | None:
    entry = reader.read(ref(NODE, key.name))
    return PLANS.get(key.name) if isinstance(entry, Present) else None


def _states(plan: FencePlan, now: Now) -> Decision:
    return Decision(facts=(Fact(plan_ref(plan.node), plan),))


PLANNING = Room("plans", (NODE, CONFIG_MAP), (), lambda at, obj, reader: (ref(NODE, at.name),), _sees, _states,
                frozenset(), Stage.SPEC)  # fmt: skip


class Bench:
    """A manager that drills; devices answer what `says` holds, and the condition lands on the Node."""

    def __init__(self, *plans: FencePlan, every: Span | None = DAY) -> None:
        PLANS.clear()
        PLANS.update({plan.node.name: plan for plan in plans})
        self.engine = Engine((drilling.ROOM, PLANNING))
        self.now = NOW
        self.says: dict[str, Run] = {}  # by method
        self.asked: list[str] = []
        self.writes: list[PublishNodeCondition] = []
        self.silent = False
        self.is_timed = False  # runs have begun when they were asked for
        self.last = ""  # the run that was asked for last
        self._version = 1
        for kind in RESOURCES:
            self.engine.listed(kind, NOW)
        if every is not None:
            self.engine.seen(Seen(SCHEDULE_AT, "", "", DrillSchedule(every)), NOW)
        for plan in plans:
            self.see(plan.node, a_node(f"uid-{plan.node.name}"))

    def see(self, at: Ref, obj: Any) -> None:
        self._version += 1
        self.engine.seen(Seen(at, obj.uid, str(self._version), obj), self.now)

    def plans(self, plan: FencePlan) -> None:
        """Somebody changes the configuration."""
        PLANS[plan.node.name] = plan
        self.see(ref(CONFIG_MAP, plan.node.name), ConfigMap("uid"))

    def run(self, span: Span) -> None:
        """Until so much time has passed, from wake to wake."""
        end = self.now.mono + span
        while True:
            self._step()
            wake = self.engine.next_wake()
            if wake is None or wake > end:
                break
            self._go_to(Span(max(1, wake.since(self.now.mono).ms)))
        self._go_to(end.since(self.now.mono))

    def _go_to(self, span: Span) -> None:
        self.now = Now(self.now.wall + span, self.now.mono + span)

    def _step(self) -> None:
        for _ in range(20):
            effects = self.engine.step(self.now, token=7).effects
            if not effects:
                return
            for effect in effects:
                self._carry_out(effect)
        raise AssertionError("the room does not come to rest")

    def _carry_out(self, effect: Effect) -> None:
        action = effect.action
        if isinstance(action, StartRun):
            self.asked.append(action.order.method)
            self.last = action.order.id
            usual = Run(action.order.id, RunState.DONE, Power.ON)
            run = replace(self.says.get(action.order.method, usual), id=action.order.id)
            run = replace(run, state=RunState.RUNNING) if self.silent else run
            run = replace(run, begun=self.now.mono) if self.is_timed else run
            self.engine.seen(Seen(run_ref(run.id), "", "", run), self.now)
            self.engine.ended(effect, Done(self.now.mono), self.now)
            return
        assert isinstance(action, PublishNodeCondition)
        self.writes.append(action)
        self.engine.ended(effect, Done(self.now.mono), self.now)
        entry = self.engine.cache.read(action.ref)
        assert isinstance(entry, Present)
        others = tuple(one for one in entry.obj.conditions if one.type != FENCING_READY)
        self.see(action.ref, replace(entry.obj, conditions=(*others, action.condition)))

    def answer(self) -> None:
        """What was asked last is answered now."""
        self.engine.seen(Seen(run_ref(self.last), "", "", Run(self.last, RunState.DONE, Power.ON)), self.now)

    def because(self) -> tuple[Reason, ...]:
        return self.engine.decisions[Key(drilling.ROOM.name, AT)].because

    def told(self) -> list[tuple[str, str]]:
        return [(one.condition.status, one.condition.reason) for one in self.writes]


def plan(name: str = "worker-0", **more: Any) -> FencePlan:
    return a_plan(**{"node": ref(NODE, name), "isolation": (PORT,), "power_management": (OFF,), **more})


def test_a_device_for_tries_is_told_as_one() -> None:
    """That a file answers makes nobody ready: the message of the condition says that nothing is freed on its word."""
    bench = Bench(plan(power_management=(replace(OFF, agent="fence_dummy", scope=Scope.NOTHING),)))

    bench.run(drilling.AGAIN)
    (told,) = bench.because()
    assert isinstance(told, FencingWasReady)
    assert "ipmi: agent fence_dummy switches no machine" in told.words


def test_every_device_is_asked_and_the_node_says_so() -> None:
    """Within a quarter of an hour for the first time, one after the other, and once a day from then on."""
    bench = Bench(plan())

    bench.run(drilling.AGAIN)
    assert (["fc", "ipmi"], [("True", "DevicesAnswered")]) == (bench.asked, bench.told())
    assert (FencingWasReady("every device was asked and answered"),) == bench.because()

    bench.run(DAY)
    assert ["fc", "ipmi"] * 2 == bench.asked
    bench.run(DAY)
    assert ["fc", "ipmi"] * 3 == bench.asked
    assert 1 == len(bench.writes)


def with_host(bench: Bench, **changes: Any) -> None:
    """The node has a Machine on bare metal, as its operator shows it."""
    bench.see(MACHINE_AT, a_machine(node_name="worker-0"))
    bench.see(HOST_AT, replace(a_host(), **{"status": "OK", "login": Login.ACCEPTED, **changes}))


def test_a_host_is_judged_by_what_the_api_shows() -> None:
    """No device is asked, and the condition says so; what its operator shows later counts at the next drill."""
    bench = Bench(a_plan(node=AT, power_management=(HOST_POWER,)))
    with_host(bench, paused=True)
    bench.run(drilling.AGAIN)
    assert [("False", "HostNotReady")] == bench.told()

    with_host(bench)
    bench.run(drilling.AGAIN)
    assert ([], [("False", "HostNotReady"), ("True", "HostReady")]) == (bench.asked, bench.told())
    assert bench.writes[-1].message.endswith("is well by what the API shows; its BMC was not asked")
    bench.run(DAY)
    assert 2 == len(bench.writes)


DISK = an_agent("disk", agent="fence_local", scope=Scope.STORAGE, on_target=True)


def test_a_host_beside_devices_and_what_runs_on_the_node() -> None:
    """Each is told as what it is: asked, wherever that has to be, or looked up."""
    bench = Bench(a_plan(node=AT, isolation=(DISK,), power_management=(OFF, HOST_POWER)))
    with_host(bench)
    bench.run(drilling.AGAIN)

    assert (["disk", "ipmi"], [("True", "DevicesAnswered")]) == (bench.asked, bench.told())
    assert bench.writes[0].message.startswith("every device was asked and answered; BareMetalHost ")


def test_a_disk_that_knows_no_key_of_the_node_is_told() -> None:
    """The node reports, and what asks on it finds its key nowhere: it is cut off, or the key is not its own."""
    bench = Bench(a_plan(node=AT, isolation=(DISK,)))
    bench.says["disk"] = Run("", RunState.DONE, Power.OFF)
    bench.run(drilling.AGAIN)

    assert [("False", "StillIsolated")] == bench.told()


def test_a_disk_that_no_other_node_has_is_told() -> None:
    """Nobody could take the node's key away; when another one is configured, all is well."""
    plans = [plan(f"worker-{number}", isolation=(on_disk(f"a{number}"),)) for number in (0, 1)]
    bench = Bench(plans[0])
    bench.run(drilling.AGAIN)
    assert [("False", "DisksUnshared")] == bench.told()
    assert "node worker-0, method scsi: no other node has a key" in bench.writes[0].message

    bench.plans(plans[1])
    bench.see(plans[1].node, a_node("uid-worker-1"))
    bench.run(drilling.AGAIN * 2)
    assert ("True", "DevicesAnswered") == bench.told()[-1]


def test_a_node_that_reports_again_waits_for_its_moment() -> None:
    """Or all nodes of a network that is mended would be asked at once. It was silent when it was due."""
    bench = Bench(a_plan(node=AT, isolation=(DISK,), power_management=(OFF,)))
    bench.run(drilling.AGAIN)
    silent(bench)
    bench.run(DAY)
    asked = len(bench.asked)
    bench.see(AT, replace(a_node("uid-worker-0"), conditions=(READY, bench.writes[-1].condition)))
    bench.run(MINUTE)
    assert asked == len(bench.asked)

    bench.run(DAY)
    assert 2 == bench.asked.count("disk")


def on_disk(key: str) -> AgentMethod:
    parameters = (("devices", "/dev/disk/by-id/wwn-0x5001405000000001"), ("key", key))
    return an_agent("scsi", agent="fence_scsi", scope=Scope.STORAGE, parameters=parameters, on_target=True)


@pytest.mark.parametrize("power", [(), (OFF,)])
def test_nobody_calls_well_what_a_silent_node_cannot_be_asked(power: tuple[AgentMethod, ...]) -> None:
    """What was found on the node stands until it reports again; what is wrong with other devices is told meanwhile."""
    bench = Bench(a_plan(node=AT, isolation=(DISK,), power_management=power))
    bench.says["disk"] = Run("", RunState.FAILED, said="no such disk")
    bench.run(drilling.AGAIN)
    silent(bench, system_uuid="4c4c4544-0042-3510-8053-b4c04f4e3132")
    bench.run(DAY)
    assert [("False", "DeviceFailed")] == bench.told()
    assert 1 == bench.asked.count("disk")

    bench.says = {"ipmi": Run("", RunState.DONE, Power.ON, identity="11111111-2222-3333-4444-555555555555")}
    bench.run(DAY)
    assert [("False", "DeviceFailed"), *[("False", "WrongDevice")] * len(power)] == bench.told()

    bench.says = {}
    bench.see(AT, a_node("uid-worker-0"))
    bench.run(drilling.AGAIN)
    assert ("True", "DevicesAnswered") == bench.told()[-1]


def test_a_failure_is_told_and_looked_at_again_soon() -> None:
    """When the device is back, the node says so within a quarter of an hour."""
    bench = Bench(plan())
    bench.says["ipmi"] = Run("", RunState.FAILED, said="no route")
    bench.run(drilling.AGAIN)

    assert [("False", "DeviceFailed")] == bench.told()
    assert (FencingNotReady("DeviceFailed", "node worker-0, method ipmi: no route"),) == bench.because()
    bench.run(drilling.AGAIN)
    assert 1 == len(bench.writes)

    del bench.says["ipmi"]
    bench.run(drilling.AGAIN)
    assert [("False", "DeviceFailed"), ("True", "DevicesAnswered")] == bench.told()


def test_the_time_of_a_change_is_that_of_its_status() -> None:
    """Another reason for the same status is no transition."""
    bench = Bench(plan())
    bench.says["ipmi"] = Run("", RunState.FAILED, said="no route")
    bench.run(drilling.AGAIN)
    bench.says["ipmi"] = Run("", RunState.DONE, Power.OFF)
    bench.run(drilling.AGAIN)

    first, second = bench.writes
    assert ("DeviceFailed", "WrongDevice") == (first.condition.reason, second.condition.reason)
    assert first.condition.since == second.condition.since


def silent(bench: Bench, **more: Any) -> None:
    entry = bench.engine.cache.read(AT)
    assert isinstance(entry, Present)
    told = [one for one in entry.obj.conditions if one.type != "Ready"]
    bench.see(AT, replace(entry.obj, conditions=(*told, Condition("Ready", "Unknown", NOW.wall)), **more))


def test_whose_device_it_is_comes_before_whether_it_answers() -> None:
    """The word names every device that is not the node's, and no other: a fence leaves just these alone."""
    bench = Bench(plan())
    bench.says |= {"fc": Run("", RunState.FAILED, said="no route"), "ipmi": Run("", RunState.DONE, Power.OFF)}
    bench.run(drilling.AGAIN)

    assert [("False", "WrongDevice")] == bench.told()
    assert (devices.identity(OFF),) == bench.writes[0].condition.wrong


@pytest.mark.parametrize("has_waited", [True, False])
@pytest.mark.parametrize("falls_silent", [True, False])
def test_a_node_that_has_just_gone_off_is_given_time_to_fall_silent(falls_silent: bool, has_waited: bool) -> None:
    """Somebody pulled its plug, and Kubernetes takes a while to notice: that is no word against the device.

    However long the question had to wait for its turn: what counts is when the device said off.
    """
    bench = Bench(plan())
    bench.is_timed = not has_waited  # or it was asked for long ago
    bench.says["ipmi"] = Run("", RunState.DONE, Power.OFF)
    while "ipmi" not in bench.asked:
        bench.run(Span.seconds(1))
    bench.run(Span.seconds(30))
    assert [] == bench.told()

    if falls_silent:
        silent(bench)
    bench.run(MINUTE)
    assert [("True", "DevicesAnswered") if falls_silent else ("False", "WrongDevice")] == bench.told()


LATER = {
    "off, and the node has fallen silent": (Run("", RunState.DONE, Power.OFF), True),
    "on, and the node has fallen silent": (Run("", RunState.DONE, Power.ON), True),
    "no answer": (Run("", RunState.FAILED, said="no route"), False),
}


@pytest.mark.parametrize(("answer", "is_silent"), LATER.values(), ids=LATER)
def test_the_word_against_a_device_stands_until_the_device_fits(answer: Run, is_silent: bool) -> None:
    """What is off fits a silent node, whosever plug it is: a drill just before the fence must not take it back."""
    bench = Bench(plan())
    bench.says["ipmi"] = Run("", RunState.DONE, Power.OFF)
    bench.run(drilling.AGAIN)
    if is_silent:
        silent(bench)
    bench.says["ipmi"] = answer
    bench.run(DAY)
    assert [("False", "WrongDevice")] == bench.told()

    bench.see(AT, replace(a_node("uid-worker-0"), conditions=(READY, bench.writes[-1].condition)))
    del bench.says["ipmi"]
    bench.run(drilling.AGAIN)
    assert [("False", "WrongDevice"), ("True", "DevicesAnswered")] == bench.told()


def test_a_corrected_mapping_is_told_anew() -> None:
    """The word was about another device: the next drill has nothing to say against this one, silent or not."""
    bench = Bench(plan())
    bench.says["ipmi"] = Run("", RunState.DONE, Power.OFF)
    bench.run(drilling.AGAIN)
    silent(bench)
    other = an_agent("ipmi", Deed.OFF, parameters=(("ip", "192.0.2.19"),))
    bench.plans(a_plan(node=AT, isolation=(PORT,), power_management=(other,)))
    bench.run(drilling.AGAIN)

    assert ("True", "DevicesAnswered") == bench.told()[-1]


def test_a_plan_that_breaks_meanwhile_does_not_lose_the_word() -> None:
    """The devices are named by it when it is mended."""
    bench = Bench(plan())
    bench.says["ipmi"] = Run("", RunState.DONE, Power.OFF)
    bench.run(drilling.AGAIN)
    bench.plans(plan(problems=("no plug",)))
    bench.run(drilling.AGAIN)

    assert [("False", "WrongDevice"), ("False", "PlanInvalid")] == bench.told()
    assert (devices.identity(OFF),) == bench.writes[-1].condition.wrong


def test_a_plan_with_a_problem_needs_no_device_to_be_wrong() -> None:
    """Nobody is asked, and the node says why."""
    bench = Bench(plan(problems=("no plug",)))
    bench.run(DAY)

    assert ([], [("False", "PlanInvalid")]) == (bench.asked, bench.told())
    assert "no plug" == bench.writes[0].message


def test_a_plan_that_is_not_checked_yet_says_nothing() -> None:
    """A manager that has just begun does not call every node unready."""
    bench = Bench(plan(problems=("has not been asked yet",), is_pending=True))
    bench.run(DAY)

    assert ([], []) == (bench.asked, bench.told())


def test_a_device_that_is_still_being_asked_is_waited_for() -> None:
    """Nothing else is asked meanwhile, and nothing is told."""
    bench = Bench(plan())
    bench.silent = True
    bench.run(drilling.AGAIN)

    assert (["fc"], []) == (bench.asked, bench.told())
    assert (Drilling("fc"),) == bench.because()

    bench.silent = False
    bench.answer()
    bench.run(Span(1))
    assert (["fc", "ipmi"], [("True", "DevicesAnswered")]) == (bench.asked, bench.told())


def test_a_question_that_waits_is_not_asked_again() -> None:
    """Where devices are asked more slowly than they fall due, there is one question of a node in the queue."""
    bench = Bench(plan())
    bench.silent = True
    bench.run(drilling.AGAIN * 5)
    assert (["fc"], []) == (bench.asked, bench.told())

    bench.silent = False
    bench.answer()
    bench.run(Span(1))
    assert [("True", "DevicesAnswered")] == bench.told()
    assert ["fc", "ipmi"] == bench.asked


def test_an_answer_that_is_forgotten_is_not_asked_for_again() -> None:
    """The manager remembers so many runs only; in a cluster with more nodes they would push each other out for ever."""
    bench = Bench(plan())
    bench.run(drilling.AGAIN)
    bench.engine.gone(Seen(run_ref(bench.last), "", "", Run(bench.last, RunState.DONE, Power.ON)), bench.now)
    bench.run(Span(1))
    assert ["fc", "ipmi"] == bench.asked

    bench.run(DAY)
    assert ["fc", "ipmi"] * 2 == bench.asked


def test_a_question_that_did_not_begin_tells_nothing_of_the_device() -> None:
    """The node keeps the condition that it had, and is asked when it is due again."""
    bench = Bench(plan())
    bench.run(drilling.AGAIN)
    order = an_order(Deed.STATUS, not_after=NOW.wall)
    late = results.not_begun(order, staleness.too_late(order, NOW.wall + MINUTE))
    bench.says["ipmi"] = Run("", late.state, said=late.said)
    bench.run(DAY)
    assert ([("True", "DevicesAnswered")], (Drilling("ipmi"),)) == (bench.told(), bench.because())

    bench.says["ipmi"] = Run("", RunState.FAILED, said="no route")
    bench.run(DAY)
    assert [("True", "DevicesAnswered"), ("False", "DeviceFailed")] == bench.told()


def test_nobody_drills_who_was_not_told_to() -> None:
    """Nor a node without a plan, nor one that is being fenced."""
    unscheduled = Bench(plan(), every=None)
    unscheduled.run(DAY)
    assert [] == unscheduled.asked

    fenced = Bench(plan())
    fenced.see(ref(NODE_FENCE, "node-fence-worker-0"), a_fence())
    fenced.run(DAY)
    assert [] == fenced.asked


def test_what_was_due_before_we_looked_is_left_to_the_next_drill() -> None:
    """A restart does not make everybody ask at once: of a thousand nodes few are due in a minute."""
    names = [f"n{number}" for number in range(200)]
    bench = Bench(*(plan(name) for name in names))
    for name in names:
        condition = Condition(FENCING_READY, "True", NOW.wall, "DevicesAnswered")
        bench.see(ref(NODE, name), replace(a_node(f"uid-{name}"), conditions=(condition,)))

    bench.run(MINUTE)
    assert [] == bench.asked

    bench.run(MINUTE * 60)
    hourly = len(bench.asked)
    bench.run(DAY)
    assert 0 < hourly < 60
    assert 2 * 200 <= len(bench.asked) <= 2 * 220


def test_a_changed_plan_is_drilled_by_its_new_devices() -> None:
    """What the old ones said is nothing to it."""
    bench = Bench(plan())
    bench.run(drilling.AGAIN)
    bench.plans(plan(recovery=(an_agent("new", parameters=(("ip", "192.0.2.77"),)),)))
    bench.run(Span(1))

    assert ["fc", "ipmi", "new"] == bench.asked
