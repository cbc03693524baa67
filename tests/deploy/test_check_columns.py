"""What `kubectl get machinehealthchecks` shows where a definition of ours was created: whether the check acts, and may.

The columns of a definition of somebody else are theirs; the conditions are there all the same (`kubectl describe`).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.core.healthcheck.test_status import a_check, published

from noderemedy.model.healthcheck import Count, Dialect, HealthCheck
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, Kind
from noderemedy.model.meta import Paused
from noderemedy.sim.apiserver.tables import at_path
from noderemedy.sim.definitions import definition_of
from noderemedy.wire.checkstatus import status_body

KINDS = {HEALTH_CHECK: Dialect.SEED, OPENSHIFT_HEALTH_CHECK: Dialect.OPENSHIFT}
# what is on the check, and what `kubectl get` shows of a check of five machines of which one is sick
SHOWN: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({}, {"Acting": "True", "Allowed": "True"}),
    ({"paused": Paused()}, {"Acting": "False", "Allowed": "True", "Acting Reason": "PausedByPerson"}),
    ({"observes_only": True}, {"Acting": "False", "Acting Reason": "ObserveOnly"}),
    ({"needs_approval": True}, {"Acting": "False", "Acting Reason": "ApprovalRequired"}),
    (
        {"max_unhealthy": Count(0)},
        {"Acting": "True", "Allowed": "False", "Allowed Reason": "TooManyUnhealthy"},
    ),
]


def row(kind: Kind, check: HealthCheck) -> dict[str, str]:
    """The cells of a check with the status that it gets."""
    version = definition_of(kind)["spec"]["versions"][0]
    tree = {"status": status_body(published(check), version["name"])}
    columns = version["additionalPrinterColumns"]
    return {one["name"]: str(value) for one in columns for value in at_path(tree, one["jsonPath"])}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(("more", "shown"), SHOWN)
def test_a_check_shows_whether_it_acts(kind: Kind, more: dict[str, Any], shown: dict[str, str]) -> None:
    """Beside its counts, and with the reasons in the wide form."""
    found = row(kind, a_check(dialect=KINDS[kind], **more))

    assert {"Expected": "5", "Healthy": "4", **shown} == {name: found[name] for name in ("Expected", "Healthy", *shown)}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_reasons_are_for_the_wide_form(kind: Kind) -> None:
    """A terminal has eighty columns."""
    columns = definition_of(kind)["spec"]["versions"][0]["additionalPrinterColumns"]

    assert ["Acting Reason", "Allowed Reason"] == [one["name"] for one in columns if one.get("priority")]
