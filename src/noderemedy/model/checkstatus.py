"""The status of a MachineHealthCheck: what we publish, what is there, and who else writes it.

Read by `wire/checkstatus.py`, decided by `core/healthcheck/status.py`, written by `wire/requests.py`. It is no part of
what verdicts are judged on: a status that we wrote must not wake the machines.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.time import Wall

REMEDIATION_ALLOWED, VALID, OVERLAPPING, DEPRECATED = "RemediationAllowed", "Valid", "Overlapping", "Deprecated"
CANNOT_SEE = "CannotSee"
ACTING = "Acting"  # whether it would act: nobody paused it, and it neither only observes nor asks for approval
# Of a check with a template, in the words of Cluster API and OpenShift.
TEMPLATE_AVAILABLE = "ExternalRemediationTemplateAvailable"
REQUEST_AVAILABLE = "ExternalRemediationRequestAvailable"
SUCCEEDED = "Succeeded"  # of a request of any kind: whether it did what was asked for
OURS = (REMEDIATION_ALLOWED, ACTING, VALID, OVERLAPPING, DEPRECATED, CANNOT_SEE, TEMPLATE_AVAILABLE, REQUEST_AVAILABLE)


class Told(Struct, frozen=True):
    """A condition of a type that is ours to tell. `since` is the text as it is written: RFC 3339."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since: str = ""


class Foreign(Struct, frozen=True):
    """A condition of somebody else, or something that is none: its JSON, which goes back as it came."""

    text: str


class CheckStatus(Struct, frozen=True):
    """The fields of a status that we write. A number that is not there is 0: some versions leave zeros out."""

    expected: int = 0
    healthy: int = 0
    allowed: int = 0
    generation: int = 0  # `observedGeneration`; 0 where the API has no such field
    conditions: tuple[Told | Foreign, ...] = ()
    targets: tuple[str, ...] | None = None  # sorted names; None: there are none, or they are left as they are


class Writer(Struct, frozen=True):
    """Another field manager that has written this status, and when it did so last."""

    manager: str
    at: Wall
