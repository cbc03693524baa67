"""A check says what became of its template, in every dialect: missing, refused, there again, or asked for by nobody."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import DOCTOR_AT, NOW, TEMPLATE_AT, ago, present
from tests.core.external.test_lifecycle import UNUSABLE, a_request_view
from tests.core.healthcheck.remediations import SICK, TEMPLATE, WELL, a_view
from tests.core.healthcheck.targets import a_check
from tests.core.healthcheck.test_remediation import STANDING

from noderemedy.core.external.lifecycle import Standing
from noderemedy.core.healthcheck import remediation, status, templates
from noderemedy.core.healthcheck.facts import GateFact
from noderemedy.core.healthcheck.gate import gate
from noderemedy.core.healthcheck.templates import News, TemplateFact
from noderemedy.engine.cache import Cache
from noderemedy.model.actions import PublishCheckStatus
from noderemedy.model.checkstatus import CheckStatus, Told
from noderemedy.model.healthcheck import Dialect, Tally
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, Ref, ref
from noderemedy.model.outcome import Seen
from noderemedy.model.refusal import Refusal
from noderemedy.model.request import Followed
from noderemedy.model.room import Absent, Unseen
from noderemedy.model.time import Mono

AT = ref(HEALTH_CHECK, "workers", "metal")
DIALECTS = list(Dialect)
TEMPLATE_THERE, REQUEST_THERE = "ExternalRemediationTemplateAvailable", "ExternalRemediationRequestAvailable"
NOT_FOUND, NOT_CREATED = "ExternalRemediationTemplateNotFound", "ExternalRemediationRequestCreationFailed"
EARLIER = str(ago(900))
ELSEWHERE = (Standing(ref(MACHINE, "worker-0", "metal"), "u", False),)
NO_KIND = Followed(DOCTOR_AT.kind, missing="no kind Doctor is served")
NO_RIGHT = Followed(DOCTOR_AT.kind, refused="forbidden: grant list")
DENIED = Refusal("CreateRequest", DOCTOR_AT, "denied by policy")
UNREAD = Refusal("Confirm", TEMPLATE_AT, "forbidden: no right to get")

# What there is of template and request; which conditions are in order, which is not, and words of it.
STATED: dict[str, tuple[dict[str, Any], tuple[str, ...], str, str]] = {
    "nobody has looked": ({"template": Unseen()}, (), "", ""),
    "kind missing": ({"followed": NO_KIND}, (), TEMPLATE_THERE, "no kind Doctor is served"),
    "template missing": ({"template": Absent(NOW.mono)}, (), TEMPLATE_THERE, str(TEMPLATE_AT)),
    "template not to be read": ({"template": Unseen(), "refusal": UNREAD}, (), TEMPLATE_THERE, "no right to get"),
    "template unusable": ({"template": UNUSABLE}, (), REQUEST_THERE, "spec.template"),
    "requests not to be listed": ({"followed": NO_RIGHT}, (TEMPLATE_THERE,), REQUEST_THERE, "grant list"),
    "request denied": ({"refusal": DENIED}, (TEMPLATE_THERE,), REQUEST_THERE, "denied by policy"),
    "template there": ({}, (TEMPLATE_THERE,), "", ""),
    "request stands": ({"standing": STANDING}, (TEMPLATE_THERE, REQUEST_THERE), "", ""),
    "another request stands": ({"standing": ELSEWHERE}, (TEMPLATE_THERE,), "", ""),
}


def facts(dialect: Dialect, verdict: Any = SICK, **request: Any) -> list[TemplateFact]:
    view = replace(a_view(a_check(dialect, template=TEMPLATE), verdict), requests=a_request_view(**request))
    found = [fact.value for fact in remediation.decide(view, NOW).facts]
    return [fact for fact in found if isinstance(fact, TemplateFact)]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", STATED)
def test_a_sick_machine_states_what_became_of_the_template(dialect: Dialect, name: str) -> None:
    """In every dialect alike: what is there, what is not and why; nothing before anybody has looked."""
    request, available, missing, words = STATED[name]

    found = facts(dialect, **request)

    assert [(available, missing)] * bool(available or missing) == [(one.available, one.missing) for one in found]
    assert all(words in one.why for one in found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_healthy_machine_states_nothing(dialect: Dialect) -> None:
    """Nobody looks for a template that nobody needs."""
    assert [] == facts(dialect, WELL, template=Absent(NOW.mono))


# --- the check tells it ------------------------------------------------------------------------------------------


def published(dialect: Dialect, news: News, unhealthy: int = 1, *said: Told, **more: Any) -> list[Told]:
    """The conditions about the template that such a check gets."""
    check = a_check(dialect, **{"template": TEMPLATE, **more})
    check = replace(check, status=CheckStatus(conditions=said))
    count = Tally(5, 5 - unhealthy, unhealthy)
    view = status.StatusView(AT, check, "77", Mono(0), GateFact(gate(check, count), count), news=news)
    (action,) = status.decide(view, NOW).actions
    assert isinstance(action, PublishCheckStatus)
    conditions = [one for one in action.status.conditions if isinstance(one, Told)]
    return [one for one in conditions if one.type in (TEMPLATE_THERE, REQUEST_THERE)]


def was(type: str, value: str, reason: str = "before") -> Told:
    return Told(type, value, reason, "words", EARLIER)


FOUND = News((TEMPLATE_THERE,))
MADE = News((TEMPLATE_THERE, REQUEST_THERE))
NOWHERE = News((), ((TEMPLATE_THERE, "no such template"),))
REFUSED = News((TEMPLATE_THERE,), ((REQUEST_THERE, "denied"),))
QUIET = News()
NOW_TEXT = str(NOW.wall)
# What is known, how many are sick, what was said before; what is said then.
TOLD: dict[str, tuple[News, int, tuple[Told, ...], list[tuple[str, str, str, str]]]] = {
    "in order": (MADE, 1, (), []),
    "missing": (NOWHERE, 1, (), [(TEMPLATE_THERE, "False", NOT_FOUND, NOW_TEXT)]),
    "still missing": (
        NOWHERE,
        1,
        (was(TEMPLATE_THERE, "False"),),
        [(TEMPLATE_THERE, "False", NOT_FOUND, EARLIER)],
    ),
    "refused": (REFUSED, 1, (), [(REQUEST_THERE, "False", NOT_CREATED, NOW_TEXT)]),
    "found again": (
        FOUND,
        1,
        (was(TEMPLATE_THERE, "False"), was(REQUEST_THERE, "False")),
        [(TEMPLATE_THERE, "True", TEMPLATE_THERE, NOW_TEXT), (REQUEST_THERE, "False", "before", EARLIER)],
    ),
    "made at last": (
        MADE,
        1,
        (was(REQUEST_THERE, "False"),),
        [(REQUEST_THERE, "True", REQUEST_THERE, NOW_TEXT)],
    ),
    "nobody has looked yet": (
        QUIET,
        1,
        (was(TEMPLATE_THERE, "False"),),
        [(TEMPLATE_THERE, "False", "before", EARLIER)],
    ),
    "nobody needs it": (
        QUIET,
        0,
        (was(TEMPLATE_THERE, "False"),),
        [(TEMPLATE_THERE, "Unknown", "NotAskedFor", NOW_TEXT)],
    ),
    "nobody needs what was there": (
        QUIET,
        0,
        (was(TEMPLATE_THERE, "True"),),
        [(TEMPLATE_THERE, "True", "before", EARLIER)],
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", TOLD)
def test_the_check_tells_it(dialect: Dialect, name: str) -> None:
    """That something is there only after it was missing; that nobody knows when nobody needs it any more."""
    news, unhealthy, said, expected = TOLD[name]

    found = published(dialect, news, unhealthy, *said)

    assert expected == [(one.type, one.status, one.reason, one.since) for one in found]


def test_the_message_is_the_cause() -> None:
    """In the words of the reason, or of the API."""
    assert ["no such template", "denied"] == [
        published(Dialect.OPENSHIFT, news)[0].message for news in (NOWHERE, REFUSED)
    ]


def test_a_check_without_a_template_says_nothing_of_one() -> None:
    """What was said goes with the template."""
    assert [] == published(Dialect.SEED, QUIET, 1, was(TEMPLATE_THERE, "False"), template=None)


def test_the_first_of_several_machines_speaks() -> None:
    """One word per check, whoever else has the same trouble; machines of other checks have none in it."""
    cache = Cache(templates.INDEXES)
    other = ref(HEALTH_CHECK, "other", "metal")
    for name, check in (("m2", AT), ("m1", AT), ("m0", other)):
        at = Ref("", templates.KINDS[MACHINE], "metal", name)
        cache.put(Seen(at, "", "", TemplateFact(check, (), TEMPLATE_THERE, name)), NOW.mono)
    there = Ref("", templates.KINDS[MACHINE], "metal", "m3")
    cache.put(Seen(there, "", "", TemplateFact(AT, (TEMPLATE_THERE, REQUEST_THERE))), NOW.mono)

    assert News((TEMPLATE_THERE, REQUEST_THERE), ((TEMPLATE_THERE, "m1"),)) == templates.sees(AT, cache)
    assert ((TEMPLATE_THERE, "m0"),) == templates.sees(other, cache).missing


def test_its_check_is_woken() -> None:
    """By what any of its machines states, and by its own facts."""
    at = Ref("", templates.KINDS[MACHINE], "metal", "m1")

    assert (AT,) == tuple(status.ROOM.wakes(at, TemplateFact(AT), Cache(())))
    assert (AT,) == tuple(status.ROOM.wakes(AT, present(a_check()).obj, Cache(())))
