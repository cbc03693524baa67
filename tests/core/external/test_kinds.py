"""Which kind of requests a check wants to be followed: the one its template stands for, if the check is any good."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import DOCTOR, DOCTOR_TEMPLATE, NOW
from tests.core.healthcheck.targets import a_check

from noderemedy.core.external.kinds import request_kind, template_kind, wanted
from noderemedy.core.healthcheck import specs
from noderemedy.model.healthcheck import TemplateRef
from noderemedy.model.ids import HEALTH_CHECK, ref
from noderemedy.model.meta import Malformed
from noderemedy.model.request import Wanted

CHECK_AT = ref(HEALTH_CHECK, "workers", "metal")
TEMPLATE = TemplateRef("example.com/v1alpha1", "DoctorTemplate", "house-call", "metal")


def test_the_kind_of_a_request_is_its_templates_without_the_word() -> None:
    """Of the same group; only the end of the name is cut."""
    twice = TemplateRef("example.com/v1", "TemplateDoctorTemplate", "x", "metal")

    assert (DOCTOR_TEMPLATE, DOCTOR) == (template_kind(TEMPLATE), request_kind(TEMPLATE))
    assert "TemplateDoctor" == request_kind(twice).kind
    assert DOCTOR_TEMPLATE == Wanted(DOCTOR, "v1alpha1").template


def test_a_check_with_a_template_wants_its_requests() -> None:
    """The spec room states it, beside the spec."""
    check = a_check(template=TEMPLATE)
    wrong = a_check(template=TEMPLATE, problems=("spec.maxUnhealthy: x",))  # what runs for it goes on

    assert wanted(CHECK_AT, check) == wanted(CHECK_AT, wrong)
    assert [Wanted(DOCTOR, "v1alpha1")] == [fact.value for fact in wanted(CHECK_AT, check)]
    assert wanted(CHECK_AT, check) == specs.decide(specs.SpecView(CHECK_AT, check), NOW).facts[1:]


@pytest.mark.parametrize("check", [{}, {"deleting": True}, {"template": Malformed("x"), "problems": ("x",)}])
def test_other_checks_want_nothing(check: dict[str, Any]) -> None:
    """No template, on its way out, or one that cannot be read: such a check makes nobody watch anything."""
    assert () == wanted(CHECK_AT, a_check(**{"template": TEMPLATE if check else None, **check}))
