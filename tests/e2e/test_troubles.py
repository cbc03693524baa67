"""What is missing or forbidden in a real cluster: one clear message with its remedy, and recovery without a restart.

The manager is hurried (entry.py): it asks again every second where the shipped one waits half a minute.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.error import HTTPError

import pytest
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import DEPLOY, MANAGER, install_foreign_kinds, kubectl, wait_for_policy
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import assert_freed_only_when_off, wait_for_note, wait_until_over

from noderemedy.manager.kinds import crd_name, wanted
from noderemedy.model.ids import JOB, LEASE

ROLE = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{MANAGER}"
# All that is watched and not Kubernetes' own.
MISSING = sorted(crd_name(one) for one in wanted() if one.kind.group not in ("", LEASE.group, JOB.group))
SHIPPED = {file.stem for file in (DEPLOY / "crds" / "foreign").glob("*.yaml")}
INSTALLED_LATER = sorted(SHIPPED & set(MISSING))


@pytest.fixture(scope="module")
def bare_plane(control_plane: ControlPlane) -> ControlPlane:
    """Rights and policy of ours are installed, and not one of the kinds that they are about."""
    kubectl(control_plane, "apply", "--server-side", "-f", DEPLOY / "rbac", "-f", DEPLOY / "admission")
    return control_plane


@pytest.fixture(scope="module")
def manager(bare_plane: ControlPlane) -> Iterator[Manager]:
    with Manager(bare_plane, how="hurried") as made:
        yield made


@pytest.fixture(scope="module")
def fleet(bare_plane: ControlPlane, manager: Manager) -> Iterator[Fleet]:
    """Machines and hosts, whose kinds were installed when the manager had long been running."""
    manager.wait_until_ready()
    install_foreign_kinds(bare_plane)
    wait_for_policy(bare_plane)
    with Fleet(bare_plane) as made:
        yield made


def test_missing_kinds_are_named_once(manager: Manager) -> None:
    """For each kind that is not installed one line says which, and what does not work without it; it is ready."""
    manager.wait_until_ready()
    eventually(lambda: len(manager.said("kind is not served")) == len(MISSING), "all are named")
    lines = manager.said("kind is not served")

    assert all(line["without"] for line in lines)
    assert "ok\n" == manager.answer("/readyz")
    time.sleep(2)  # it asks again meanwhile
    assert_named_once(manager)


def assert_named_once(manager: Manager) -> None:
    assert MISSING == sorted(line["crd"] for line in manager.said("kind is not served"))


def test_sabotage_naming_them_again_and_again_is_seen(bare_plane: ControlPlane) -> None:
    """A manager that complains at every attempt fails the check."""
    with Manager(bare_plane, "talkative", how="talkative") as talkative:
        eventually(lambda: len(talkative.said("kind is not served")) > len(MISSING), "it complains again")

    with pytest.raises(AssertionError):
        assert_named_once(talkative)


def test_kinds_that_are_installed_later_are_picked_up(bare_plane: ControlPlane, manager: Manager, fleet: Fleet) -> None:
    """When the kinds appear it says so, and a Machine of a kind that did not exist before is repaired."""
    eventually(lambda: len(manager.said("kind is served now")) == len(INSTALLED_LATER), "all are seen")
    fleet.add("newcomer")
    fleet.crash("newcomer")
    fleet.ask_for_repair("newcomer")
    wait_until_over(fleet, "newcomer")

    assert_named_once(manager)
    assert 1 == assert_freed_only_when_off(bare_plane, fleet)


def test_none_of_our_own_kinds_is_needed(fleet: Fleet) -> None:
    """The cluster that all this happens in has no custom kind of ours (seed 001: free of CRDs)."""
    kinds = fleet.api.items("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")

    assert kinds
    assert [] == [one["metadata"]["name"] for one in kinds if one["spec"]["group"].endswith("node-remedy.dev")]


def test_a_forbidden_write_names_object_and_remedy(bare_plane: ControlPlane, manager: Manager, fleet: Fleet) -> None:
    """Without the right to patch Machines the Node stays, and one message names Machine and remedy; then it goes on."""
    admin = bare_plane.api()
    rules = admin.get(ROLE).ok()["rules"]
    fleet.add("forbidden")
    admin.merge(ROLE, {"rules": without_patch(rules, "machines")}).ok()
    try:
        fleet.crash("forbidden")
        fleet.ask_for_repair("forbidden")
        note = wait_for_note(fleet.api, "forbidden", "ActionRefused")
        refused = [one for one in audit.writes(bare_plane.audit_log, "forbidden") if one.status == 403]
        assert ("Warning", "patch machines") == (note["type"], refused[0].did)
        for words in ("BackUpNode", "default/forbidden", "cannot patch resource", "deploy/rbac"):
            assert words in note["note"]
        assert fleet.node("forbidden")
        assert 1 == len(manager.said("decided", reason="ActionRefused"))
    finally:
        admin.merge(ROLE, {"rules": rules}).ok()
    wait_until_over(fleet, "forbidden")


def test_a_kind_that_may_not_be_seen_stops_all_decisions(
    bare_plane: ControlPlane, manager: Manager, fleet: Fleet
) -> None:
    """A manager that may not watch hosts says what to grant, is not ready and writes nothing; then it goes on."""
    admin = bare_plane.api()
    rules = admin.get(ROLE).ok()["rules"]
    fleet.add("unseen")
    fleet.crash("unseen")
    manager.program.terminate()
    admin.merge(ROLE, {"rules": [rule for rule in rules if rule["resources"] != ["baremetalhosts"]]}).ok()
    with Manager(bare_plane, "blind", how="hurried") as blind:
        try:
            fleet.ask_for_repair("unseen")
            eventually(blind.leads, "it leads")
            eventually(lambda: blind.said("kind cannot be seen, nothing is decided"), "it says so")
            time.sleep(3)  # it asks again meanwhile, and says nothing twice
            [line] = blind.said("kind cannot be seen, nothing is decided")
            assert "grant list,watch on baremetalhosts.metal3.io to " + audit.ACCOUNT in line["why"]
            assert [] == audit.writes(bare_plane.audit_log, "unseen")
            with pytest.raises(HTTPError, match="503"):
                blind.answer("/readyz")
        finally:
            admin.merge(ROLE, {"rules": rules}).ok()
        wait_until_over(fleet, "unseen")


def without_patch(rules: list[Json], resource: str) -> list[Json]:
    """The same rules, except that this resource cannot be patched."""
    return [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb != "patch"]}
        if rule["resources"] == [resource]
        else rule
        for rule in rules
    ]
