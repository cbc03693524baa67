"""Events, figures and log lines of what the engine finds worth saying."""

from __future__ import annotations

import logging

import pytest
from tests.builders import MACHINE_AT, RESOURCES

from noderemedy.drivers.kube.events import Note
from noderemedy.drivers.logs import Log
from noderemedy.drivers.metrics import Metrics
from noderemedy.engine.telling import Notice
from noderemedy.manager import notices
from noderemedy.manager.notices import Reporter
from noderemedy.model.actions import (
    Action,
    CordonNode,
    DeletePod,
    DetachVolume,
    Guard,
    OpenIncident,
    TaintOutOfService,
    UncordonNode,
)
from noderemedy.model.ids import INCIDENT, NODE, SYSTEM, ref
from noderemedy.model.incident import Detection
from noderemedy.model.node import OutOfService
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome
from noderemedy.model.proof import Attested, Subject
from noderemedy.model.reasons import (
    FenceStepEnded,
    NodeTerminated,
    ObjectUnreadable,
    PowerOffOverdue,
    RemedyEnded,
    RunEnded,
    RunNoted,
    TableRow,
    TooManyUnhealthy,
    WaitingForPowerOff,
)
from noderemedy.model.time import Mono, Span, Wall
from noderemedy.model.workload import ATTACHMENT, POD

WAITING = Notice("annotation", MACHINE_AT, "u", WaitingForPowerOff("metal/h"), "e1")


def published(notice: Notice) -> list[Note]:
    notes: list[Note] = []
    Reporter(Log("test"), Metrics(), notes.append).notice(notice, RESOURCES, Wall(1))
    return notes


def test_event_name_says_what_is_said() -> None:
    """The same thing said twice has one name; another object, reason, argument or episode has another.

    An object that was made anew under the name of another one is another object.
    """
    others = [
        Notice("annotation", MACHINE_AT, "another uid", WAITING.reason, "e1"),
        Notice("annotation", ref(NODE, "x"), "u", WAITING.reason, "e1"),
        Notice("annotation", MACHINE_AT, "u", WaitingForPowerOff("metal/h2"), "e1"),
        Notice("annotation", MACHINE_AT, "u", PowerOffOverdue("metal/h", None, ""), "e1"),
        Notice("annotation", MACHINE_AT, "u", WAITING.reason, "e2"),
    ]
    again = Notice("annotation", MACHINE_AT, "u", WaitingForPowerOff("metal/h"), "e1", again=True)

    assert notices.event_name(WAITING) == notices.event_name(again)
    assert [False, True] == [note.again for one in (WAITING, again) for note in published(one)]
    assert 6 == len({notices.event_name(notice) for notice in [WAITING, *others]})


def test_what_is_passing_gives_no_event_another_name() -> None:
    """The count of the moment is in the note: whoever takes over in a storm does not say it again with another one."""
    some, more, other = (
        Notice("check", MACHINE_AT, "u", TooManyUnhealthy(count, 20, limit), "e1")
        for count, limit in ((3, "2"), (4, "2"), (4, "3"))
    )

    assert notices.event_name(some) == notices.event_name(more)
    assert notices.event_name(some) != notices.event_name(other)
    assert ["3 of 20", "4 of 20"] == [one.note[:7] for notice in (some, more) for one in published(notice)]


def test_alert_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A reason that a person should look at is a Warning, in the Event and in the log."""
    caplog.set_level(logging.DEBUG)
    [calm] = published(WAITING)
    [alert] = published(Notice("annotation", MACHINE_AT, "u", PowerOffOverdue("metal/h", None, ""), "e1"))

    assert (False, True) == (calm.warning, alert.warning)
    assert ("PowerOffOverdue", "cluster.x-k8s.io/v1beta1") == (alert.reason, alert.api_version)
    assert [logging.INFO, logging.WARNING] == [record.levelno for record in caplog.records]


def test_a_step_that_another_one_tells_of_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A row of the table is a log line and no Event: the API is not asked to keep what the next reason says anyway."""
    caplog.set_level(logging.DEBUG)

    assert [] == published(Notice("annotation", MACHINE_AT, "u", TableRow(1, 1, 1, 0, "Add reboot annotation"), "e1"))
    assert ["TableRow"] == [record.facts["reason"] for record in caplog.records]  # type: ignore[attr-defined]


def test_object_without_a_name_gets_no_event() -> None:
    """Garbage that names no object is logged and counted; there is nothing to hang an Event on."""
    assert [] == published(Notice("quarantine", ref(NODE, ""), "", ObjectUnreadable("garbage"), ""))


def test_remedies_are_counted_and_timed() -> None:
    """By remedy and outcome; what nobody knows the end of is counted, and not timed."""
    metrics = Metrics()
    reporter = Reporter(Log("test"), metrics, None)
    for took in (Span.seconds(20), None):
        ended = RemedyEnded("n0", "repair", "succeeded", "", took)
        reporter.notice(Notice("remedy", MACHINE_AT, "uid", ended, ""), RESOURCES, Wall(1))

    text = metrics.text().decode()
    assert 'node_remedy_remedies_total{outcome="succeeded",remedy="repair"} 2.0' in text
    assert 'node_remedy_remedy_duration_seconds_count{remedy="repair"} 1.0' in text


def test_problems_are_counted_by_condition() -> None:
    """One per condition of an Incident that was opened; one that was refused is none, a wish for a repair has none."""
    metrics = Metrics()
    reporter = Reporter(Log("test"), metrics, None)
    found = (("Ready", "DiskPressure"), ("Ready",), ())
    tries: list[tuple[tuple[str, ...], Outcome]] = [
        *((one, Done(Mono(0))) for one in found),
        (("Ready",), Failed("no")),
    ]
    for conditions, outcome in tries:
        detection = Detection(MACHINE_AT, "m", "e1", Wall(1), conditions=conditions)
        opened = OpenIncident(ref(INCIDENT, "n0-e1", SYSTEM), detection)
        reporter.ended(Effect(1, Key("incident", MACHINE_AT), opened, 7), outcome, Span(5))

    text = metrics.text().decode()
    counts = {"Ready": 2, "DiskPressure": 1, "none": 1}
    assert [] == [one for one, count in counts.items() if f'problems_total{{condition="{one}"}} {count}.0' not in text]


def test_steps_of_fences_are_counted_and_timed() -> None:
    """By step and outcome, from the beginning of the try; one without a beginning is counted, and not timed."""
    metrics = Metrics()
    reporter = Reporter(Log("test"), metrics, None)
    for since in (Wall(10_000), None):
        ended = FenceStepEnded("n0", "isolation", "done", since)
        reporter.notice(Notice("node-fence", MACHINE_AT, "uid", ended, ""), RESOURCES, Wall(40_000))

    text = metrics.text().decode()
    assert 'node_remedy_fence_steps_total{outcome="done",step="isolation"} 2.0' in text
    assert 'node_remedy_fence_step_duration_seconds_sum{outcome="done",step="isolation"} 30.0' in text
    assert 'node_remedy_fence_step_duration_seconds_count{outcome="done",step="isolation"} 1.0' in text


@pytest.mark.parametrize("reason", [RunEnded, RunNoted])
def test_a_host_as_a_device_is_counted_and_timed(reason: type[RunEnded]) -> None:
    """Like a run of an agent, which its own book counts: that one is not counted twice."""
    metrics = Metrics()
    reporter = Reporter(Log("test"), metrics, None)
    for method in ("host-power", "ipmi"):
        ended = reason("n0", method, "off", "done", "", Wall(10_000))
        reporter.notice(Notice("node-fence", MACHINE_AT, "uid", ended, ""), RESOURCES, Wall(40_000))

    text = metrics.text().decode()
    assert 'runs_total{agent="builtin",deed="off",method="host-power",outcome="done"} 1.0' in text
    assert 'run_duration_seconds_sum{agent="builtin",deed="off",outcome="done"} 30.0' in text
    assert 'method_seconds_total{agent="builtin",deed="off",method="host-power",outcome="done"} 30.0' in text
    assert 'method="ipmi"' not in text


AT, GUARD, SUBJECT = ref(NODE, "n0"), Guard("uid"), Subject("uid", "boot")
OFF = Attested(SUBJECT, "admin", Wall(1), "off")
MARK = OutOfService("node-fence", "/node-fence-n0", "fence-uid")
DEEDS: list[tuple[Action, str]] = [
    (CordonNode(AT, GUARD), 'deed="CordonNode",method="mark-unschedulable"'),
    (UncordonNode(AT, GUARD), 'deed="UncordonNode",method="mark-schedulable"'),
    (DeletePod(ref(POD, "p", "d"), GUARD, SUBJECT, OFF), 'deed="DeletePod",method="clean-pods"'),
    (TaintOutOfService(AT, GUARD, "boot", (), MARK, OFF), 'deed="TaintOutOfService",method="clean-pods"'),
    (DetachVolume(ref(ATTACHMENT, "v"), GUARD, SUBJECT, OFF), 'deed="DetachVolume",method="detach-volumes"'),
]


@pytest.mark.parametrize(("action", "labels"), DEEDS, ids=[type(action).__name__ for action, _ in DEEDS])
def test_methods_without_an_agent_are_counted_and_timed(action: Action, labels: str) -> None:
    """By what they ask of the API, and only in a fence: others cordon and free, too."""
    metrics = Metrics()
    reporter = Reporter(Log("test"), metrics, None)
    for room in ("node-fence", "remedy"):
        for outcome in (Done(Mono(1)), Failed("no")):
            reporter.ended(Effect(1, Key(room, MACHINE_AT), action, 7), outcome, Span.seconds(2))

    text = metrics.text().decode()
    assert f'runs_total{{agent="builtin",{labels},outcome="done"}} 1.0' in text
    assert f'runs_total{{agent="builtin",{labels},outcome="failed"}} 1.0' in text
    deed = labels.split(",")[0]
    assert [True, True] == [
        f'run_duration_seconds_sum{{agent="builtin",{deed},outcome="{outcome}"}} 2.0' in text
        for outcome in ("done", "failed")
    ]


def test_a_terminated_instance_is_counted() -> None:
    """When its Node is seen to be gone: there is no run of its own for it."""
    metrics = Metrics()
    ended = Notice("node-fence", MACHINE_AT, "uid", NodeTerminated("n0"), "")
    Reporter(Log("test"), metrics, None).notice(ended, RESOURCES, Wall(1))

    assert 'agent="builtin",deed="off",method="terminate",outcome="done"} 1.0' in metrics.text().decode()
