"""What we tell on objects of Cluster API passes the schemas of both versions: an empty text is refused by the older."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from tests.builders import MACHINE_AT, NOW, a_machine
from tests.core.healthcheck.test_status import AT, PROBLEMS, a_check
from tests.wire.clusterapi import CHECK_STATUS, MACHINE_STATUS, wrong_in

from noderemedy.core import conditions
from noderemedy.core.external.lifecycle import NOT_CREATED, NOT_FOUND, Trouble
from noderemedy.core.fencing import requestgates as fencing
from noderemedy.core.healthcheck import templates, words
from noderemedy.core.healthcheck.facts import GateFact
from noderemedy.core.healthcheck.gate import gate
from noderemedy.core.healthcheck.status import StatusView, wanted_status
from noderemedy.core.metal3 import remediationgates as metal3
from noderemedy.core.owner import overdue
from noderemedy.model.checkstatus import OURS, REQUEST_AVAILABLE, TEMPLATE_AVAILABLE, CheckStatus, Told
from noderemedy.model.healthcheck import Count, Dialect, HealthCheck, Tally, TemplateRef, Unhealthy
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.model.meta import Paused
from noderemedy.model.reasons import NodeMissing
from noderemedy.model.room import Present
from noderemedy.wire.checkstatus import status_body
from noderemedy.wire.machineconditions import conditions_body

VERSIONS = tuple(CHECK_STATUS)
TEMPLATE = TemplateRef("example.com/v1", "DoctorTemplate", "house-call", "metal")
OPPOSITE = dict.fromkeys(OURS, "True") | dict.fromkeys((TEMPLATE_AVAILABLE, REQUEST_AVAILABLE, "Valid"), "False")
BEFORE = tuple(Told(one, OPPOSITE[one], "Before", "told before", str(NOW.wall)) for one in OURS)
AS_OTHERS_TELL = tuple(Told(one, "True", since=str(NOW.wall)) for one in (TEMPLATE_AVAILABLE, REQUEST_AVAILABLE))
MISSING = templates.News(missing=tuple((one, "there is none") for one in templates.REASONS))
THERE = templates.News(available=tuple(templates.REASONS))


def a_capi_check(before: tuple[Told, ...] = (), **more: Any) -> HealthCheck:
    return a_check(dialect=Dialect.CAPI, status=CheckStatus(conditions=before), **more)


CHECKS: dict[str, tuple[HealthCheck, Tally, templates.News]] = {
    "all are healthy": (a_capi_check(), Tally(3, 3), templates.News()),
    "too many are not": (a_capi_check(max_unhealthy=Count(0)), Tally(3, 1), templates.News()),
    "a person holds it": (a_capi_check(paused=Paused(), observes_only=True), Tally(3, 3), templates.News()),
    "it is invalid": (a_capi_check(problems=PROBLEMS), Tally(0, 0), templates.News()),
    "all is well again": (a_capi_check(BEFORE), Tally(3, 3), templates.News()),
    "no template": (a_capi_check(template=TEMPLATE), Tally(3, 2), MISSING),
    "a template again": (a_capi_check(BEFORE, template=TEMPLATE), Tally(3, 2), THERE),
    "nobody asks for a template": (a_capi_check(BEFORE, template=TEMPLATE), Tally(3, 3), templates.News()),
}


def wrong_in_check(check: HealthCheck, count: Tally, news: templates.News, version: str) -> list[str]:
    """What an API server of this version has against the status that the room wants."""
    contested, unseen = (0, 0) if count.healthy == count.total else (2, 1)
    found = GateFact(gate(check, count), count, contested, unseen)
    body = status_body(wanted_status(StatusView(AT, check, "77", NOW.mono, found, news=news), NOW), version)
    return wrong_in({**body, "targets": ["worker-0"]}, CHECK_STATUS[version])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CHECKS)
def test_the_status_of_a_check_is_accepted(case: str, version: str) -> None:
    """In whatever state it is: v1beta1 takes no empty text, v1beta2 wants every text to be there."""
    assert [] == wrong_in_check(*CHECKS[case], version)


def test_what_others_told_without_a_word_is_accepted_again() -> None:
    """Cluster API gives no reason for what is well, in the older generation; it goes back as it came."""
    check = a_capi_check(AS_OTHERS_TELL, template=TEMPLATE)

    assert [] == wrong_in_check(check, Tally(3, 3), THERE, "v1beta1")


OF_A_MACHINE: tuple[Graded, ...] = (
    words.WELL,
    words.sick(Unhealthy(NOW.wall, (NodeMissing("worker-0"),))),
    words.sick(Unhealthy(NOW.wall, ())),
    words.owner_asked("workers"),
    words.externally_asked("workers", None),
    *(words.externally_asked("workers", Trouble(reason, "it is refused")) for reason in (NOT_CREATED, NOT_FOUND)),
    metal3.ASKED,
    fencing.ASKED,
    *(conditions.along(one) for one in (metal3.ASKED, fencing.ASKED)),
    overdue.GOES_ON,
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("wanted", OF_A_MACHINE, ids=lambda one: f"{one.type}-{one.status}-{one.reason}")
def test_the_conditions_of_a_machine_are_accepted(wanted: Graded, version: str) -> None:
    """Each of our words in both generations, wherever the version keeps them."""
    told = MachineConditions((), (), is_current=version == "v1beta2")
    entry = Present(structs.replace(a_machine(), told=told), "7", NOW.mono)
    action = conditions.write(MACHINE_AT, entry, (wanted,), NOW)
    assert action is not None

    assert [] == wrong_in(conditions_body(action.current, action.older, version), MACHINE_STATUS[version])


@pytest.mark.parametrize(
    ("version", "condition", "wrong"),
    [
        ("v1beta1", {"message": ""}, "message"),
        ("v1beta1", {"reason": ""}, "reason"),
        ("v1beta2", {"message": None}, "message"),
        ("v1beta2", {"reason": ""}, "reason"),
        ("v1beta2", {"reason": "in words"}, "reason"),
    ],
)
def test_a_wrong_condition_is_refused(version: str, condition: dict[str, Any], wrong: str) -> None:
    """The judge sees what a real API server refuses."""
    usual = {"type": "Valid", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": str(NOW.wall)}
    told = {key: text for key, text in {**usual, **condition}.items() if text is not None}

    assert {f"status.conditions[0].{wrong}"} == set(wrong_in({"conditions": [told]}, CHECK_STATUS[version]))
