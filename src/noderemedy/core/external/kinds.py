"""Which kind of request a template stands for. Called by the spec room, and by `lifecycle` for every machine.

The kind of a request is the kind of its template without the word `Template` (seed 004). Which templates cannot stand
for any is said where a check is read (`wire/healthchecks.py`): such a check is invalid.
"""

from __future__ import annotations

from noderemedy.model.decision import Fact
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.request import want


def template_kind(template: TemplateRef) -> Kind:
    return Kind(template.api_version.rpartition("/")[0], template.kind)


def request_kind(template: TemplateRef) -> Kind:
    return Kind(template_kind(template).group, template.kind.removesuffix("Template"))


def wanted(at: Ref, check: HealthCheck) -> tuple[Fact, ...]:
    """What has to be followed for a check: the requests that its template stands for.

    Also of an invalid one: what runs goes on, and a manager that begins has to find it.
    """
    template = check.template
    if check.deleting or not isinstance(template, TemplateRef):
        return ()
    return (want(at, request_kind(template), template.api_version.rpartition("/")[2]),)
