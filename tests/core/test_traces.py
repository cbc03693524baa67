"""No trace of a repair goes before its record tells of it, and no room waits for that for ever."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    DOCTOR_AT,
    HOST_AT,
    MACHINE_AT,
    NOW,
    REMEDIATION_AT,
    a_backup,
    a_cache,
    a_hold,
    a_host,
    a_machine,
    a_node,
    a_view,
    ago,
)
from tests.core.external.test_lifecycle import a_request_view
from tests.core.healthcheck import remediations as checked
from tests.core.healthcheck.targets import a_check
from tests.core.incident.scene import Scene
from tests.core.metal3.remediations import (
    BACK,
    EVIDENCE,
    SICK,
    a_held_host,
    a_reader,
    a_remediation,
    a_world,
    actions,
)
from tests.core.owner import scene as owned

from noderemedy.core import traces
from noderemedy.core.external.lifecycle import Standing
from noderemedy.core.healthcheck.erasing import DELETION
from noderemedy.core.healthcheck.remediationview import RemediationView
from noderemedy.core.healthcheck.words import owner_asked
from noderemedy.core.incident.ending import departed
from noderemedy.core.incident.facts import Diary, incident_ref
from noderemedy.core.metal3 import annotation, links
from noderemedy.core.metal3 import remediation as metal3
from noderemedy.core.metal3.remediationgates import ASKED as METAL3_ASKED
from noderemedy.core.metal3.remediationview import RemediationView as Remedied
from noderemedy.core.metal3.view import HostView, MachineView
from noderemedy.core.owner import replacing
from noderemedy.core.traces import Erasing, Told, Trace, diary_ref, erasing_ref, recorded, waiting
from noderemedy.engine.cache import Cache
from noderemedy.model.healthcheck import Dialect
from noderemedy.model.host import Consumer, Power
from noderemedy.model.ids import INCIDENT, REMEDIATION, SYSTEM, Ref, ref
from noderemedy.model.incident import Detection, Ending, Incident, Record, Step
from noderemedy.model.machine import ControllerOwner
from noderemedy.model.machineconditions import OWNER_REMEDIATED, MachineConditions
from noderemedy.model.outcome import Seen
from noderemedy.model.proof import attested_note
from noderemedy.model.reasons import RecordFirst
from noderemedy.model.remediation import Phase
from noderemedy.model.replacement import Step as Replacing
from noderemedy.model.time import Mono

WAITS, GOES = Erasing(MACHINE_AT, "room"), Trace("hold", "held since then")
SILENT = Told(is_kept=True)


# --- the rule ----------------------------------------------------------------------------------------------------


def test_what_is_not_told_yet_stays() -> None:
    """The room says that it waits, why, and until when."""
    decision = recorded(SILENT, WAITS, NOW, (GOES,))

    assert decision is not None
    assert ((), (RecordFirst("hold"),), NOW.mono + traces.PATIENCE) == (
        decision.actions,
        decision.because,
        decision.wake_at,
    )
    assert [(erasing_ref("room", MACHINE_AT), WAITS)] == [(fact.ref, fact.value) for fact in decision.facts]


GO: dict[str, tuple[Told, tuple[Trace, ...]]] = {
    "it is told": (Told(True, frozenset({GOES})), (GOES,)),
    "nothing goes": (SILENT, ()),
    "nobody keeps a record": (Told(), (GOES,)),
    "the record is not written in time": (Told(True, asked_at=Mono(NOW.mono.ms - traces.PATIENCE.ms)), (GOES,)),
}


@pytest.mark.parametrize("name", GO)
def test_nobody_waits_longer_than_needed(name: str) -> None:
    """Records do not stand in the way of a repair."""
    told, going = GO[name]

    assert None is recorded(told, WAITS, NOW, going)


def test_patience_runs_from_the_first_question() -> None:
    """Asking again does not lengthen it."""
    told = Told(True, asked_at=ago_mono(30))
    decision = recorded(told, WAITS, NOW, (GOES,))

    assert decision is not None
    assert ago_mono(30) + traces.PATIENCE == decision.wake_at


def ago_mono(seconds: int) -> Mono:
    return Mono(NOW.mono.ms - seconds * 1000)


# --- what each room keeps until it is told -----------------------------------------------------------------------


def cycling(machine: dict[str, Any], host: Any, node: Any = None) -> MachineView:
    """A machine whose record tells nothing yet."""
    return replace(a_view(replace(a_machine(), **machine), host, node), record=SILENT)


HELD = {"held": True, "hold": a_hold(since=ago(60))}
OFF = replace(a_host(power=Power.OFF), **HELD)
CYCLING: dict[str, tuple[MachineView, list[str]]] = {
    "a hold that led to nothing": (cycling({}, OFF), ["RecordFirst"]),
    "a hold that led to a deletion": (cycling({"node_deleted_at": ago(30)}, OFF), ["RecordFirst"]),
    "a second hold after a deletion": (cycling({"node_deleted_at": ago(90)}, OFF), ["RecordFirst"]),
    "the mark of a check": (
        cycling({"needs_remediation": True, "marked_by": "workers", "node_deleted_at": ago(30)}, OFF),
        ["RecordFirst"],
    ),
    "the mark of a person": (cycling({"needs_remediation": True, "node_deleted_at": ago(30)}, OFF), ["TableRow"]),
    "the time of a deletion": (
        cycling({"node_deleted_at": ago(300)}, a_host(), a_node("node-uid-2", boot_id="boot-2")),
        ["RecordFirst"],
    ),
    "a backup that was not needed": (
        cycling({"node_deleted_at": ago(300), "backup": a_backup()}, a_host(), a_node()),
        ["RecordFirst"],
    ),
}


@pytest.mark.parametrize("name", CYCLING)
def test_power_cycling_is_told_first(name: str) -> None:
    """A hold, a check's mark and the time of a deletion go when they are told, unless something else still tells."""
    view, expected = CYCLING[name]
    decision = annotation.decide(view, NOW)

    assert expected == [type(reason).__name__ for reason in decision.because]
    assert bool(decision.actions) == (expected != ["RecordFirst"])


@pytest.mark.parametrize(
    "objects",
    [
        {HOST_AT: OFF, MACHINE_AT: a_machine(host=None)},
        {HOST_AT: replace(OFF, consumer=None), MACHINE_AT: a_machine()},
        {HOST_AT: replace(OFF, consumer=Consumer("Server", "metal", "other")), MACHINE_AT: a_machine()},
    ],
    ids=["the machine names none", "the host names none", "the host names another"],
)
def test_a_hold_without_its_machine_is_told_first(objects: dict[Ref, Any]) -> None:
    """Machine and host lost each other: the hold goes when the record of the machine that it was for tells of it."""
    cache = a_cache(objects)
    view = annotation.ROOM.sees(HOST_AT, cache)
    assert isinstance(view, HostView)
    told = Trace(traces.HOLD, traces.held(OFF.hold))

    assert MACHINE_AT == view.held_for
    view = replace(view, suspects=())  # all of them were read live
    assert [] == actions(annotation.decide(replace(view, record=SILENT), NOW))
    told_now = replace(view, record=Told(True, frozenset({told})))
    assert ["RemoveRebootAnnotation"] == actions(annotation.decide(told_now, NOW))
    assert (HOST_AT,) == cache.find(links.HELD_FOR, "machine-uid-1")


def test_a_host_is_not_kept_off_for_a_record() -> None:
    """A hold that led to a deletion, which is told of anyway, waits for seconds only."""
    waits = [
        annotation.decide(CYCLING[f"a {name}"][0], NOW).wake_at
        for name in ("hold that led to a deletion", "hold that led to nothing")
    ]

    assert [NOW.mono + traces.SHORTLY, NOW.mono + traces.PATIENCE] == waits


def remediated(
    phase: Phase, host: Any = None, evidence: Any = EVIDENCE, node: Any = BACK, machine: Any = None, **changes: Any
) -> Remedied:
    """A Metal3Remediation for a machine whose record tells nothing."""
    world = a_world(
        a_remediation(phase, evidence=evidence, **changes), host=host, node=node, machine=machine or a_machine()
    )
    view = metal3.ROOM.sees(REMEDIATION_AT, a_reader(world))
    assert isinstance(view, Remedied)
    assert view.machine is not None
    return replace(view, machine=replace(view.machine, record=SILENT))


def asked_and_well() -> Remedied:
    """The owner was asked, the node is back, and the request is deleted."""
    view = remediated(Phase.DELETING_MACHINE, deleting=True)
    assert view.machine is not None
    entry = view.machine.entry
    told = replace(entry.obj, told=MachineConditions((METAL3_ASKED,), None))
    return replace(view, machine=replace(view.machine, machine=told, entry=replace(entry, obj=told)))


LEAVING = {"deleting": True}
ADRIFT = a_machine(host=None)
REMEDIATED: dict[str, tuple[Remedied, list[str]]] = {
    "a hold without a proof": (remediated(Phase.POWER_ON, a_held_host()), []),
    "a hold on a host that the machine names no more": (remediated(Phase.POWER_OFF, a_held_host(), machine=ADRIFT), []),
    "a hold that its evidence tells of": (
        remediated(Phase.POWER_ON, a_held_host(), replace(EVIDENCE, proof="PoweredOff")),
        ["ReleaseHost"],
    ),
    "a hold after a person's word": (
        remediated(Phase.POWER_ON, a_held_host(), replace(EVIDENCE, proof=attested_note("ann", NOW.wall))),
        [],
    ),
    "an attempt that gives way to the next one": (remediated(Phase.WAITING, node=SICK, seconds=601), []),
    "a request that has done something": (remediated(Phase.WAITING, **LEAVING), []),
    "a word to the owner of a machine that is well": (asked_and_well(), []),
    "a request that has done nothing": (
        remediated(Phase.NEW, finalizers=("remediation.metal3.io",), **LEAVING),
        ["WriteFinalizers"],
    ),
}


@pytest.mark.parametrize("name", REMEDIATED)
def test_a_remediation_is_told_first(name: str) -> None:
    """Its hold until it is told or proven, itself until its last phase is told."""
    view, expected = REMEDIATED[name]
    decision = metal3.decide(view, NOW)

    assert expected == actions(decision)
    assert bool(expected) != any(isinstance(reason, RecordFirst) for reason in decision.because)


def test_a_hold_elsewhere_waits_as_any_other() -> None:
    """A record that the API refused once is written a minute later; a leader that never saw it waits in vain."""
    view, _ = REMEDIATED["a hold on a host that the machine names no more"]
    assert view.machine is not None
    told = Told(True, frozenset({traces.trace(traces.HOLD_FOR, traces.held(view.held[0][1].obj.held_for[0][1]))}))

    assert NOW.mono + traces.PATIENCE == metal3.decide(view, NOW).wake_at
    assert ["ReleaseHost"] == actions(metal3.decide(replace(view, machine=replace(view.machine, record=told)), NOW))


def test_a_word_that_may_set_off_a_replacement_waits_for_seconds_only() -> None:
    """Its owner may act on it meanwhile; once it is told, it goes."""
    view = asked_and_well()
    assert view.machine is not None
    record = Told(True, frozenset({Trace(OWNER_REMEDIATED, "False")}))

    assert NOW.mono + traces.SHORTLY == metal3.decide(view, NOW).wake_at
    told = replace(view, machine=replace(view.machine, record=record))
    assert ["WriteMachineConditions"] == actions(metal3.decide(told, NOW))


def test_two_remediations_of_one_machine_wait_each_for_itself() -> None:
    """A fact has one author: two that leave at once do not break each other."""
    other = replace(a_remediation(Phase.WAITING, deleting=True), uid="another-uid")
    other_at = ref(REMEDIATION, "another", MACHINE_AT.namespace)
    leaving = replace(a_remediation(Phase.WAITING, deleting=True), owner=ControllerOwner("", "Machine", "worker-0", ""))
    reader = a_reader(a_world(leaving, node=BACK, more={other_at: replace(other, owner=leaving.owner)}))
    views = [metal3.ROOM.sees(at, reader) for at in (REMEDIATION_AT, other_at)]
    waits = [metal3.decide(replace(one, machine=replace(one.machine, record=SILENT)), NOW) for one in views]
    facts = [fact.ref for one in waits for fact in one.facts if fact.ref.kind == traces.ERASING]

    assert 2 == len(set(facts)) == len(facts)


def test_a_replaced_machine_goes_when_that_is_told() -> None:
    """Our finalizer keeps it until then."""
    successor = a_machine(uid="machine-uid-2", host=None)
    view = owned.a_scene(owned.deleted(), None, successor=replace(successor, replaces="machine-uid-1"))
    told = Told(True, frozenset({Trace(traces.REPLACEMENT, Replacing.DELETE.value)}))

    assert [RecordFirst] == owned.reasons(replacing.decide(replace(view, told=SILENT), NOW))
    assert ["ForgetReplacement"] == actions(replacing.decide(replace(view, told=told), NOW))


DOCTORED = a_request_view(standing=(Standing(DOCTOR_AT, "doctor-uid", False),))
ASKED = MachineConditions(None, (owner_asked("workers"),))
UNWATCHED = replace(checked.a_view(machine={"told": ASKED}), governing=None)
TAKEN_BACK: dict[str, tuple[RemediationView, Trace]] = {
    "a mark": (
        checked.a_view(verdict=checked.WELL, machine={"needs_remediation": True, "marked_by": "workers"}),
        Trace(traces.REQUEST, traces.MARKED),
    ),
    "a request": (
        checked.a_view(verdict=checked.WELL, requests=DOCTORED),
        Trace(traces.EXTERNAL, "Doctor doctor-uid"),
    ),
    "our word to the owner": (UNWATCHED, Trace(OWNER_REMEDIATED, "False")),
    "a machine": (checked.a_view(a_check(dialect=Dialect.OPENSHIFT)), Trace(traces.INTENT, DELETION)),
}


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_what_a_check_takes_back_is_told_first(name: str) -> None:
    """Silent records hold it up, records that tell of it do not."""
    view, trace = TAKEN_BACK[name]
    waits = checked.decide(replace(view, record=SILENT))
    goes = checked.decide(replace(view, record=Told(True, frozenset({trace}))))

    assert (["RecordFirst"], []) == (checked.reasons(waits), checked.names(waits.actions))
    assert [] != checked.names(goes.actions)


def test_a_request_that_is_withdrawn_is_not_waited_for_long() -> None:
    """What stands there may set off a repair that nobody needs any more."""
    waits = checked.decide(replace(TAKEN_BACK["a mark"][0], record=SILENT))

    assert NOW.mono + traces.SHORTLY == waits.wake_at


# --- what is told, and who is woken ------------------------------------------------------------------------------


def an_incident(*steps: tuple[str, str], uid: str = "machine-uid-1", ending: Ending | None = None) -> Incident:
    found = Detection(MACHINE_AT, uid, "0123456789", NOW.wall)
    return Incident("i-uid", found, Record(tuple(Step(NOW.wall, "r", *one) for one in steps), ending=ending))


def a_reader_with(*incidents: Incident, uid: str = "machine-uid-1") -> Cache:
    """A diary of this target, and these Incidents."""
    cache = Cache(traces.INDEXES)
    cache.end_list("", INCIDENT)
    for number, one in enumerate(incidents):
        cache.put(Seen(ref(INCIDENT, f"i-{number}", SYSTEM), "i-uid", "1", one), NOW.mono)
    found = Detection(MACHINE_AT, uid, "0123456789", NOW.wall)
    cache.put(Seen(diary_ref(MACHINE_AT), "", "", Diary(incident_ref(found), found, Record())), NOW.mono)
    return cache


def test_the_last_value_of_the_open_incident_counts() -> None:
    """What an aspect was before is no news of what it is."""
    closed = an_incident(("hold", "held since then"), ending=Ending.RECOVERED)
    reader = a_reader_with(closed, an_incident(("request", "marked"), ("request", ""), ("hold", "held")))

    told = traces.see("room", MACHINE_AT, "machine-uid-1", reader)
    assert Told(True, frozenset({Trace("request", ""), Trace("hold", "held")})) == told


def test_without_an_open_incident_the_last_one_counts() -> None:
    """A request may outlive its record by a moment."""
    reader = a_reader_with(an_incident(("remediation", "waiting"), ending=Ending.RECOVERED))

    assert {Trace("remediation", "waiting")} == traces.see("room", MACHINE_AT, "machine-uid-1", reader).steps


def test_the_story_of_a_namesake_is_not_ours() -> None:
    """Neither the Incident of another Machine of that name, nor its diary."""
    reader = a_reader_with(an_incident(("hold", "held"), uid="another"))

    assert Told(True) == traces.see("room", MACHINE_AT, "machine-uid-1", reader)
    assert Told() == traces.see("room", MACHINE_AT, "another", reader)


@pytest.mark.parametrize(("uid", "told"), [("machine-uid-1", Told(True)), ("former", Told())])
def test_while_the_story_of_a_former_machine_is_told_the_next_one_waits_for_its_own(uid: str, told: Told) -> None:
    """Its diary begins when the record of the former one is closed; whatever is left of that one waits for nothing."""
    reader = a_reader_with(an_incident(("hold", "held"), uid="before"), uid="before")
    reader.put(Seen(MACHINE_AT, "machine-uid-1", "1", a_machine()), NOW.mono)

    assert told == traces.see("room", MACHINE_AT, uid, reader)


def test_only_who_waits_is_woken_by_a_record() -> None:
    """Records are written all the time; most rooms have nothing to do with that."""
    reader, incident = a_reader_with(), an_incident()

    assert () == waiting("room", incident, reader)
    reader.put(Seen(erasing_ref("room", MACHINE_AT), "", "", WAITS), NOW.mono)
    assert (MACHINE_AT,) == waiting("room", incident, reader)
    assert () == waiting("another", incident, reader)
    assert () == waiting("room", None, reader)


def test_a_record_that_is_waited_for_is_written_at_once() -> None:
    """Opened and written, whatever else it would have waited for; an intent is a step of it."""
    scene = Scene()
    scene.falls_sick()
    waits = Erasing(MACHINE_AT, "remediation", DELETION)
    scene.engine.seen(Seen(erasing_ref("remediation", MACHINE_AT), "", "", waits), scene.now)
    scene.step()

    assert [f"intent {DELETION}"] == scene.told()


def test_a_machine_that_went_as_intended_was_replaced() -> None:
    """Its deletion left no trace but the intent: nobody else took it away."""
    record = Record((Step(NOW.wall, "remediation", traces.INTENT, DELETION),))

    assert (Ending.REPLACED, Ending.GONE) == (departed(record), departed(Record()))
