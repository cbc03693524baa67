"""External remediation on a real API server (seeds 003, 004): a template kind that nobody knew when this was written.

Its definitions, its rights, its template and its controller come one after the other, and each absence is told. The
manager runs under its shipped identity, and hurries only where it would wait for a person.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.e2e.api import Api, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.doctors import (
    DEFINITIONS,
    DOCTORS,
    GROUP,
    ROLES,
    TEMPLATES,
    admit,
    definition,
    deny,
    install,
    request,
    template,
    vendors_role,
)
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import notes, wait_for_note

CHECKS = "/apis/cluster.x-k8s.io/v1alpha3/namespaces/default/machinehealthchecks"
LABELS = {"role": "ward"}
FINALIZER = "example.com/doctor"
CHECK = {
    "apiVersion": "cluster.x-k8s.io/v1alpha3",
    "kind": "MachineHealthCheck",
    "metadata": {"name": "ward"},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "1s"}],
        "externalRemediationTemplate": {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "DoctorTemplate",
            "name": "house-call",
        },
    },
}


@pytest.fixture(scope="module")
def fleet(installed_plane: ControlPlane) -> Iterator[Fleet]:
    """Eight machines, half of them in the ward: few enough are sick at a time for the budget."""
    patients = ("one", "two", "three", "four")
    with Fleet(installed_plane) as fleet:
        fleet.add(*patients, "five", "six", "seven", "eight")
        for name in patients:
            fleet.api.merge(fleet.machine_path(name), {"metadata": {"labels": LABELS}}).ok()
        fleet.api.create(CHECKS, CHECK).ok()
        yield fleet


@pytest.fixture(scope="module")
def manager(installed_plane: ControlPlane, fleet: Fleet) -> Iterator[Manager]:
    with Manager(installed_plane, how="hurried") as manager:
        manager.wait_until_ready()
        yield manager


def of_template(api: Api) -> tuple[str, str]:
    """Status and reason of what the check says of its template."""
    conditions = api.get(f"{CHECKS}/ward").ok()["status"]["conditions"]
    found = [one for one in conditions if one["type"] == "ExternalRemediationTemplateAvailable"]
    return (found[0]["status"], found[0]["reason"]) if found else ("", "")


def recover(fleet: Fleet, name: str) -> None:
    """Somebody resets the computer, as a doctor would."""
    fleet.power(name, on=False)
    fleet.power(name, on=True)
    eventually(lambda: fleet.is_ready(name), f"{name} is Ready", 60)


@pytest.mark.timeout(300)
def test_a_kind_that_comes_piece_by_piece(fleet: Fleet, manager: Manager) -> None:
    """Kinds, rights and template are missing in turn, each is told; then the request is made, right in every field."""
    api = fleet.api
    fleet.crash("one")
    wait_for_note(api, "one", "TemplateKindMissing", "DoctorTemplate.example.com", 90)
    eventually(lambda: of_template(api) == ("False", "ExternalRemediationTemplateNotFound"), "its check says so", 30)
    assert "ok" == manager.answer("/readyz").strip()[:2]
    for kind in ("DoctorTemplate", "Doctor"):
        api.create(DEFINITIONS, definition(kind)).ok()
    wait_for_note(api, "one", "RequestsUnseen", "grant list,watch on doctors.example.com", 60)
    api.create(ROLES, vendors_role()).ok()
    wait_for_note(api, "one", "TemplateNotFound", "DoctorTemplate/default/house-call", 60)
    api.create(TEMPLATES, template(3)).ok()
    made = eventually(lambda: request(api, "one"), "the request is made", 90)
    eventually(lambda: of_template(api)[0] == "True", "its check says that it is there", 30)
    meta, machine = made["metadata"], fleet.machine("one")

    (owner,) = meta["ownerReferences"]
    assert fleet.api.get(f"/apis/{owner.pop('apiVersion')}/namespaces/default/machines/one").ok(), (
        "a version not served"
    )
    assert {"kind": "Machine", "name": "one", "uid": machine["metadata"]["uid"]} == owner
    assert {"dose": 3} == made["spec"]
    assert "night" == meta["labels"]["shift"]
    assert "finalizers" not in meta
    assert "house-call" == meta["annotations"]["cluster.x-k8s.io/cloned-from-name"]
    assert "DoctorTemplate.example.com" == meta["annotations"]["cluster.x-k8s.io/cloned-from-groupkind"]
    recover(fleet, "one")
    eventually(lambda: request(api, "one") is None, "the request is gone", 60)


@pytest.mark.timeout(240)
def test_a_finalizer_of_its_controller_is_respected(fleet: Fleet, manager: Manager) -> None:
    """On recovery the request is deleted, and it is gone when its controller lets it go."""
    api = fleet.api
    install(api)
    fleet.crash("two")
    eventually(lambda: request(api, "two"), "the request is made", 120)
    api.merge(f"{DOCTORS}/two", {"metadata": {"finalizers": [FINALIZER]}}).ok()
    recover(fleet, "two")
    leaving = eventually(
        lambda: "deletionTimestamp" in (request(api, "two") or {"metadata": {}})["metadata"], "it is deleted", 60
    )
    api.merge(f"{DOCTORS}/two", {"metadata": {"finalizers": None}}).ok()
    eventually(lambda: request(api, "two") is None, "it is gone")

    assert leaving
    assert "ConditionTimedOut" in notes(api, "two")


@pytest.mark.timeout(300)
def test_what_the_api_refuses_disturbs_nobody_else(fleet: Fleet, manager: Manager) -> None:
    """An admission policy denies one machine's request: told there, made when the policy goes; others have theirs."""
    api = fleet.api
    install(api)
    deny(api, "three")
    fleet.crash("three")
    wait_for_note(api, "three", "ActionRefused", "no doctor for this one", 60)
    fleet.crash("four")
    eventually(lambda: request(api, "four"), "the other one has its request", 60)
    assert request(api, "three") is None
    admit(api)
    eventually(lambda: request(api, "three"), "the request is made", 60)


def test_a_machine_takes_its_request_along(fleet: Fleet, manager: Manager) -> None:
    """Deleted in the middle: the garbage collector of the cluster sees to it, by the owner reference."""
    api = fleet.api
    install(api)
    eventually(lambda: request(api, "four"), "the request is there", 120)
    api.delete(fleet.machine_path("four")).ok()

    eventually(lambda: request(api, "four") is None, "the request is gone", 60)
