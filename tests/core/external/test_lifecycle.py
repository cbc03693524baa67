"""The life of a request, state by state: a table of what is there, and what follows for a sick or a healthy machine."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import (
    DOCTOR,
    DOCTOR_AT,
    MACHINE_AT,
    NOW,
    TEMPLATE_AT,
    a_machine,
    absent,
    later,
    present,
    unreadable,
)

from noderemedy.core.external.lifecycle import (
    GATES,
    INDEXES,
    RequestView,
    Standing,
    Trouble,
    Wish,
    ask,
    is_running,
    recover,
    sees,
    trouble,
    wants,
)
from noderemedy.core.gates import passages
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import Confirm, CreateRequest, DeleteRequest, Guard
from noderemedy.model.checkstatus import Told
from noderemedy.model.decision import NOTHING, Decision
from noderemedy.model.fenceremediation import FencePhase, FenceRemediation, RequestStatus
from noderemedy.model.healthcheck import TemplateRef
from noderemedy.model.ids import FENCE_REMEDIATION, REMEDIATION, Kind, Ref, ref
from noderemedy.model.meta import Malformed
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import (
    ConfirmFirst,
    Reason,
    RequestLeaving,
    RequestNeeded,
    RequestNotOurs,
    RequestStands,
    RequestsUnseen,
    RequestUnneeded,
    TemplateKindMissing,
    TemplateNotFound,
    TemplateUnusable,
    WaitingForRequests,
)
from noderemedy.model.refusal import Refusal, refusal_ref
from noderemedy.model.remediation import Metal3Remediation, Phase, Progress
from noderemedy.model.request import ExternalRequest, Followed, Template, followed_ref, want
from noderemedy.model.room import Absent, Entry, Present, Unseen

TEMPLATE = Template("template-uid", '{"spec":{"dose":3}}', (("a", "b"),), (("c", "d"),))
OURS = ExternalRequest("doctor-uid-1", owner_uid="machine-uid-1")
SEEN, NONE, FRESH = Followed(DOCTOR), Absent(), present(TEMPLATE)
REQUEST, FROM = "Doctor/metal/worker-0", "DoctorTemplate/metal/house-call"
NURSE_AT = ref(Kind("example.com", "Nurse"), "worker-0", "metal")
CREATE = CreateRequest(
    DOCTOR_AT, MACHINE_AT, "machine-uid-1", TEMPLATE_AT, '{"spec":{"dose":3}}', "", (("a", "b"),), (("c", "d"),)
)


def a_request_view(
    *,
    request: Entry = NONE,
    template: Entry = FRESH,
    followed: Followed | None = SEEN,
    standing: tuple[Standing, ...] = (),
    refusal: Refusal | None = None,
    **machine: Any,
) -> RequestView:
    """A machine without a request, with a template that was just read."""
    wish = Wish(TEMPLATE_AT, template, DOCTOR_AT, request, followed)
    return RequestView(MACHINE_AT, replace(a_machine(), **machine), wish, standing, refusal)


READ = Decision((Confirm(TEMPLATE_AT),), (ConfirmFirst(FROM),))
UNUSABLE = present(Template("t", Malformed("spec.template: expected an object")))
SICK: list[tuple[str, RequestView, Decision]] = [
    ("nothing there", a_request_view(), Decision((CREATE,), (RequestNeeded(REQUEST, FROM),))),
    (
        "its cluster is known",
        a_request_view(cluster_name="lab"),
        Decision((replace(CREATE, cluster_name="lab"),), (RequestNeeded(REQUEST, FROM),)),
    ),
    ("template never read", a_request_view(template=Unseen()), READ),
    ("template not confirmed", a_request_view(template=present(TEMPLATE, confirmed=False)), READ),
    ("template read too long ago", a_request_view(template=present(TEMPLATE, now=later(-6))), READ),
    ("absence not confirmed", a_request_view(template=absent(confirmed=False)), READ),
    ("template unreadable", a_request_view(template=unreadable()), READ),
    (
        "template missing",
        a_request_view(template=absent(now=later(-10))),
        Decision(because=(TemplateNotFound(FROM),), wake_at=later(50).mono),
    ),
    (
        "template missing for a minute",
        a_request_view(template=absent(now=later(-60))),
        Decision((Confirm(TEMPLATE_AT),), (TemplateNotFound(FROM),)),
    ),
    (
        "template unusable",
        a_request_view(template=UNUSABLE),
        Decision(because=(TemplateUnusable(FROM, "spec.template: expected an object"),), wake_at=later(60).mono),
    ),
    ("ours", a_request_view(request=present(OURS)), Decision(because=(RequestStands(REQUEST),))),
    (
        "ours, the template gone meanwhile",
        a_request_view(request=present(OURS), template=absent()),
        Decision(because=(RequestStands(REQUEST),)),
    ),
    (
        "ours, being deleted",
        a_request_view(request=present(replace(OURS, deleting=True))),
        Decision(because=(RequestLeaving(REQUEST),)),
    ),
    (
        "of an earlier machine of this name",
        a_request_view(request=present(OURS), uid="machine-uid-2"),
        Decision(because=(RequestNotOurs(REQUEST, "belongs to the Machine with uid machine-uid-1"),)),
    ),
    (
        "made by hand",
        a_request_view(request=present(ExternalRequest("x"))),
        Decision(because=(RequestNotOurs(REQUEST, "has no owner"),)),
    ),
    (
        "unreadable",
        a_request_view(request=unreadable("garbage")),
        Decision(because=(RequestNotOurs(REQUEST, "cannot be read: garbage"),)),
    ),
    (
        "kind not served",
        a_request_view(request=Unseen(), followed=Followed(DOCTOR, missing="Doctor.example.com")),
        Decision(because=(TemplateKindMissing("Doctor.example.com"),)),
    ),
    (
        "kind refused",
        a_request_view(request=Unseen(), followed=Followed(DOCTOR, refused="forbidden")),
        Decision(because=(RequestsUnseen("Doctor.example.com", "forbidden"),)),
    ),
    (
        "kind not followed yet",
        a_request_view(request=Unseen(), followed=None),
        Decision(because=(WaitingForRequests("Doctor.example.com"),)),
    ),
    (
        "kind not listed yet",
        a_request_view(request=Unseen()),
        Decision(because=(WaitingForRequests("Doctor.example.com"),)),
    ),
]


@pytest.mark.parametrize(("view", "expected"), [row[1:] for row in SICK], ids=[row[0] for row in SICK])
def test_what_is_done_about_a_sick_machine(view: RequestView, expected: Decision) -> None:
    """One row per state of request, template and kind."""
    assert expected == ask(view, NOW)


def a_standing(at: Ref = DOCTOR_AT, *, deleting: bool = False) -> Standing:
    return Standing(at, f"{at.kind.kind}-uid", deleting)


HEALTHY: list[tuple[str, tuple[Standing, ...], Decision]] = [
    ("no request", (), NOTHING),
    (
        "a request",
        (a_standing(),),
        Decision((DeleteRequest(DOCTOR_AT, Guard("Doctor-uid")),), (RequestUnneeded(REQUEST),)),
    ),
    ("one that leaves", (a_standing(deleting=True),), Decision(because=(RequestLeaving(REQUEST),))),
    (
        "one of an earlier template as well",
        (a_standing(deleting=True), a_standing(NURSE_AT)),
        Decision(
            (DeleteRequest(NURSE_AT, Guard("Nurse-uid")),),
            (RequestUnneeded("Nurse/metal/worker-0"), RequestLeaving(REQUEST)),
        ),
    ),
]


@pytest.mark.parametrize(("standing", "expected"), [row[1:] for row in HEALTHY], ids=[row[0] for row in HEALTHY])
def test_what_is_done_about_a_healthy_machine(standing: tuple[Standing, ...], expected: Decision) -> None:
    """Every request for it goes, whatever template, gate and check say by now."""
    assert expected == recover(a_request_view(standing=standing))
    assert expected == recover(RequestView(MACHINE_AT, a_machine(), None, standing))


TOLD: list[tuple[str, RequestView, Trouble | None]] = [
    ("nothing wrong", a_request_view(), None),
    ("too early", a_request_view(followed=None), None),
    ("no template wanted", RequestView(MACHINE_AT, a_machine()), None),
    ("request there", a_request_view(request=present(OURS), refusal=Refusal("x", TEMPLATE_AT, "old")), None),
    (
        "template missing, also while it is looked for again",
        a_request_view(template=absent(now=later(-60))),
        Trouble("RemediationTemplateNotFound", TemplateNotFound(FROM).note()),
    ),
    (
        "kind missing",
        a_request_view(followed=Followed(DOCTOR, missing="Doctor.example.com")),
        Trouble("RemediationTemplateNotFound", TemplateKindMissing("Doctor.example.com").note()),
    ),
    (
        "template unusable",
        a_request_view(template=UNUSABLE),
        Trouble("RemediationRequestCreationFailed", TemplateUnusable(FROM, "spec.template: expected an object").note()),
    ),
    (
        "another's request",
        a_request_view(request=present(ExternalRequest("x"))),
        Trouble("RemediationRequestCreationFailed", RequestNotOurs(REQUEST, "has no owner").note()),
    ),
    (
        "kind refused",
        a_request_view(followed=Followed(DOCTOR, refused="forbidden")),
        Trouble("RemediationRequestCreationFailed", RequestsUnseen("Doctor.example.com", "forbidden").note()),
    ),
    (
        "request refused",
        a_request_view(refusal=Refusal("CreateRequest", DOCTOR_AT, "denied")),
        Trouble("RemediationRequestCreationFailed", "denied"),
    ),
    (
        "template not shown",
        a_request_view(template=Unseen(), refusal=Refusal("Confirm", TEMPLATE_AT, "forbidden")),
        Trouble("RemediationTemplateNotFound", "forbidden"),
    ),
    ("something else refused", a_request_view(refusal=Refusal("X", MACHINE_AT, "denied")), None),
]


@pytest.mark.parametrize(("view", "expected"), [row[1:] for row in TOLD], ids=[row[0] for row in TOLD])
def test_what_a_condition_tells(view: RequestView, expected: Trouble | None) -> None:
    """In Cluster API's words, and it does not flicker while a template is looked for again."""
    assert expected == trouble(view, NOW)


def test_explain_lists_all_gates() -> None:
    """One that blocks hides none behind it."""
    shown = passages(GATES, a_request_view(template=absent()), NOW)

    names = ("kind is served", "requests can be seen", "name is free", "template is there")
    blocked: tuple[Reason | None, ...] = (None, None, None, TemplateNotFound(FROM))
    assert tuple(zip(names, blocked, strict=True)) == tuple((one.gate, one.reason) for one in shown)


# --- seeing --------------------------------------------------------------------------------------------------------


def a_world(*kinds: Kind, **objects: tuple[Ref, Any]) -> Cache:
    """The engine's cache with these kinds followed and listed."""
    cache = Cache(INDEXES)
    for kind in kinds:
        cache.end_list("", kind)
        cache.put(Seen(followed_ref(kind), "", "", Followed(kind)), NOW.mono)
    for at, obj in objects.values():
        cache.put(Seen(at, obj.uid, "1", obj), NOW.mono)
    return cache


SPEC = TemplateRef("example.com/v1alpha1", "DoctorTemplate", "house-call", "metal")


def test_a_machine_sees_all_its_requests() -> None:
    """That of its template, and those of earlier ones; not those of others that have its name."""
    stranger = ExternalRequest("s", owner_uid="somebody")
    dentist_at = ref(Kind("other.example.com", "Dentist"), "worker-0", "metal")
    world = a_world(
        DOCTOR,
        NURSE_AT.kind,
        dentist_at.kind,
        one=(DOCTOR_AT, OURS),
        two=(NURSE_AT, OURS),
        three=(dentist_at, stranger),
    )
    world.put(Seen(refusal_ref("room", MACHINE_AT), "", "", Refusal("X", DOCTOR_AT, "no")), NOW.mono)
    view = sees(MACHINE_AT, a_machine(), SPEC, "room", world)

    assert view.wish is not None
    assert (TEMPLATE_AT, Unseen(), DOCTOR_AT) == (view.wish.template_at, view.wish.template, view.wish.request_at)
    assert isinstance(view.wish.request, Present)
    assert [DOCTOR_AT, NURSE_AT] == [one.at for one in view.standing]
    assert Refusal("X", DOCTOR_AT, "no") == view.refusal


@pytest.mark.parametrize(
    ("at", "request_"),
    [
        (ref(REMEDIATION, "worker-0", "metal"), Metal3Remediation("r", owner_uid="machine-uid-1")),
        (ref(FENCE_REMEDIATION, "worker-0", "metal"), FenceRemediation("r", owner_uid="machine-uid-1")),
    ],
)
def test_a_request_of_ours_is_seen_although_no_check_names_its_kind(at: Ref, request_: Any) -> None:
    """The template is gone, and a manager has begun: what was made from it stands; what a person made is a person's."""
    by_hand, made = (
        sees(MACHINE_AT, a_machine(), None, "room", a_world(one=(at, found))).standing
        for found in (request_, replace(request_, cloned_from="reboot"))
    )

    assert ((), (Standing(at, "r", False, is_made=True),)) == (by_hand, made)


HAS_SUCCEEDED: list[tuple[str, Any, bool]] = [
    ("ready again", Metal3Remediation("r", progress=Progress(conditions=(Told("Succeeded", "True"),))), True),
    ("power cycled", Metal3Remediation("r", progress=Progress(conditions=(Told("Succeeded", "Unknown"),))), False),
    ("given up", Metal3Remediation("r", progress=Progress(phase=Phase.FAILED)), False),
    ("fenced, and back", FenceRemediation("f", status=RequestStatus(phase=FencePhase.RECOVERED)), True),
    ("fenced", FenceRemediation("f", status=RequestStatus(phase=FencePhase.FENCING)), False),
    ("could not be fenced", FenceRemediation("f", status=RequestStatus(phase=FencePhase.FAILED)), False),
    ("of whatever kind", OURS, False),
]


@pytest.mark.parametrize(
    ("request_", "expected"), [row[1:] for row in HAS_SUCCEEDED], ids=[row[0] for row in HAS_SUCCEEDED]
)
def test_only_what_is_known_to_have_succeeded_has(request_: Any, expected: bool) -> None:
    """Requests that rooms of ours carry out say so; of others nobody knows."""
    ours = replace(request_, owner_uid="machine-uid-1")
    view = sees(MACHINE_AT, a_machine(), None, "room", a_world(DOCTOR, one=(DOCTOR_AT, ours)))

    assert [expected] == [one.has_succeeded for one in view.standing]


def test_without_a_template_there_is_no_wish() -> None:
    """What was asked for before is seen all the same."""
    view = sees(MACHINE_AT, a_machine(), None, "room", a_world(DOCTOR, one=(DOCTOR_AT, OURS)))

    assert (None, (Standing(DOCTOR_AT, "doctor-uid-1", False),)) == (view.wish, view.standing)


def test_a_kind_is_wanted_while_a_request_of_it_stands() -> None:
    """Else a check that changes its template would forget what it asked for."""
    view = a_request_view(standing=(a_standing(NURSE_AT),))

    assert (want(MACHINE_AT, NURSE_AT.kind, ""),) == wants(view.at, view.standing)
    assert (True, False) == (is_running(view), is_running(a_request_view()))


# --- all states ----------------------------------------------------------------------------------------------------

REQUESTS: tuple[Entry, ...] = (Unseen(), NONE, present(OURS), present(replace(OURS, deleting=True)), unreadable())
TEMPLATES: tuple[Entry, ...] = (Unseen(), absent(), absent(confirmed=False), FRESH, UNUSABLE, unreadable())
FOLLOWS = (None, SEEN, Followed(DOCTOR, missing="x"), Followed(DOCTOR, refused="y"))


def test_a_request_is_made_only_where_none_can_be() -> None:
    """Of all states one: in full sight, from a template read within five seconds; deciding again gives the same."""
    made = []
    for state in product(REQUESTS, TEMPLATES, FOLLOWS, (0, 5, 5.001, 60)):
        request, template, followed, seconds = state
        view, now = a_request_view(request=request, template=template, followed=followed), later(seconds)
        found = ask(view, now)
        assert found == ask(view, now)
        if any(isinstance(action, CreateRequest) for action in found.actions):
            made.append(state)

    assert [(NONE, FRESH, SEEN, 0), (NONE, FRESH, SEEN, 5)] == made
