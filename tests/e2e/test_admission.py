"""Who may touch the remediation annotations, on a real API server (seed 001: only specific roles may trigger reboots).

Four identities may change Machines and hosts as they like: `editor` holds nothing else, `remediator` holds the shipped
ClusterRole too, the manager is the shipped ServiceAccount, and the administrator may do everything.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from tests.e2e.api import Api, Json, Reply, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import DEPLOY, POLICY, allow, bind, kubectl, manager_api

EXTERNAL = "host.metal3.io/external-remediation"
ON_MACHINES = (
    EXTERNAL,
    "remediation.metal3.io/node-backup",
    "remediation.metal3.io/node-deleted-at",
    "cluster.x-k8s.io/remediate-machine",
    "node-remedy.dev/repair",
)
ON_HOSTS = (
    "reboot.metal3.io/machine-remediation",
    "remediation.metal3.io/hold",
    "remediation.metal3.io/hold-5f0c",  # one record per Metal3Remediation; its hold is guarded beside it
    "reboot.metal3.io/node-fence-5f0c",  # one hold per NodeFence
    "remediation.metal3.io/fence-hold-5f0c",
)
REBOOT_FOR, HOLD_FOR = "reboot.metal3.io/metal3-remediation-5f0c", "remediation.metal3.io/hold-5f0c"
STRATEGY, REPAIR = "machine.openshift.io/remediation-strategy", "node-remedy.dev/repair"
CHECKS = ("cluster.x-k8s.io/v1alpha3", "machine.openshift.io/v1beta1")
CAPI, OPENSHIFT, HOST = "cluster.x-k8s.io/v1beta1", "machine.openshift.io/v1beta1", "metal3.io/v1alpha1"
PLURALS = {CAPI: "machines", OPENSHIFT: "machines", HOST: "baremetalhosts"}
GUARDED = [(group, key) for group in (CAPI, OPENSHIFT) for key in ON_MACHINES] + [(HOST, key) for key in ON_HOSTS]
NUMBERS = count(1)

Touch = Callable[[Api, str, Json, str], Reply]


@pytest.fixture(scope="module")
def identities(installed_plane: ControlPlane) -> dict[str, Api]:
    """Identities by name, all with the ordinary right to change Machines and hosts except the manager."""
    admin = installed_plane.api()
    verbs = ("get", "list", "create", "update", "patch", "delete")
    groups = {version: version.partition("/")[0] for version in PLURALS}
    rules = [
        (groups[version], f"{plural}{part}", verbs) for version, plural in PLURALS.items() for part in ("", "/status")
    ]
    rules += [(version.partition("/")[0], "machinehealthchecks", verbs) for version in CHECKS]
    rules += [("", "nodes", verbs), ("", "nodes/status", verbs)]
    for user in ("editor", "remediator"):
        allow(admin, f"edit-{user}", rules, user)
    bind(admin, "remediator-remediates", "node-remedy-remediator", "remediator")
    names = {"editor": installed_plane.api("editor"), "remediator": installed_plane.api("remediator")}
    eventually(lambda: all(may_edit(api) for api in names.values()), "the rights are in force")
    return {**names, "manager": manager_api(installed_plane), "admin": admin}


def may_edit(api: Api) -> bool:
    return api.get(collection(HOST)).status == 200


def collection(version: str) -> str:
    return f"/apis/{version}/namespaces/default/{PLURALS[version]}"


def an_object(version: str, annotations: Json | None = None) -> Json:
    """A new Machine or host; every one has a name of its own."""
    metadata: Json = {"name": f"thing-{next(NUMBERS)}", **({"annotations": annotations} if annotations else {})}
    kind, spec = ("BareMetalHost", {"online": True}) if version == HOST else ("Machine", {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def path_of(thing: Json) -> str:
    return f"{collection(thing['apiVersion'])}/{thing['metadata']['name']}"


def stored(admin: Api, thing: Json) -> dict[str, str]:
    """The annotations that the API server holds."""
    annotations: dict[str, str] = admin.get(path_of(thing)).ok()["metadata"].get("annotations", {})
    return annotations


# Ways to touch an annotation: each starts from an object without it (or with it, for the last three).
def set_by_merge(api: Api, path: str, thing: Json, key: str) -> Reply:
    return api.merge(path, {"metadata": {"annotations": {key: "{}"}}})


def set_by_update(api: Api, path: str, thing: Json, key: str) -> Reply:
    return api.replace(path, {**thing, "metadata": {**thing["metadata"], "annotations": {key: "{}"}}})


def set_by_apply(api: Api, path: str, thing: Json, key: str) -> Reply:
    named = {"name": thing["metadata"]["name"], "annotations": {key: "{}"}}
    return api.apply(path, {**an_object(thing["apiVersion"]), "metadata": named})


def change_by_merge(api: Api, path: str, thing: Json, key: str) -> Reply:
    return api.merge(path, {"metadata": {"annotations": {key: "another"}}})


def remove_by_merge(api: Api, path: str, thing: Json, key: str) -> Reply:
    return api.merge(path, {"metadata": {"annotations": {key: None}}})


def remove_all_by_json_patch(api: Api, path: str, thing: Json, key: str) -> Reply:
    return api.json_patch(path, [{"op": "remove", "path": "/metadata/annotations"}])


WAYS: list[tuple[Touch, bool]] = [
    (set_by_merge, False),
    (set_by_update, False),
    (set_by_apply, False),
    (change_by_merge, True),
    (remove_by_merge, True),
    (remove_all_by_json_patch, True),
]


@pytest.mark.parametrize(("touch", "is_there"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize(("version", "key"), GUARDED)
def test_an_editor_may_not_touch(
    identities: dict[str, Api], version: str, key: str, touch: Touch, is_there: bool
) -> None:
    """Whoever may only edit the object is refused, told why, and nothing changes."""
    before = {key: "as it was"} if is_there else {}
    thing = identities["admin"].create(collection(version), an_object(version, before)).ok()
    refused = touch(identities["editor"], path_of(thing), thing, key)

    assert 403 == refused.status
    for word in (thing["kind"], f"default/{thing['metadata']['name']}", key, "node-remedy-remediator", "editor"):
        assert word in refused.message
    assert before == stored(identities["admin"], thing)


@pytest.mark.parametrize(("touch", "is_there"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
@pytest.mark.parametrize(("version", "key"), GUARDED)
def test_a_remediator_may(identities: dict[str, Api], version: str, key: str, touch: Touch, is_there: bool) -> None:
    """Whoever holds the shipped role beside the right to edit is admitted."""
    thing = identities["admin"].create(collection(version), an_object(version, {key: "x"} if is_there else {})).ok()
    touch(identities["remediator"], path_of(thing), thing, key).ok()

    assert stored(identities["admin"], thing) != ({key: "x"} if is_there else {})


@pytest.mark.parametrize(("version", "key"), GUARDED)
def test_the_manager_may_set_and_remove(identities: dict[str, Api], version: str, key: str) -> None:
    """The shipped identity can do what the flow needs, on each kind."""
    thing = identities["admin"].create(collection(version), an_object(version)).ok()
    set_by_merge(identities["manager"], path_of(thing), thing, key).ok()
    remove_by_merge(identities["manager"], path_of(thing), thing, key).ok()

    assert {} == stored(identities["admin"], thing)


@pytest.mark.parametrize(("version", "key"), GUARDED)
def test_creating_with_the_annotation_takes_the_right_too(identities: dict[str, Api], version: str, key: str) -> None:
    """An object cannot be born with the annotation by somebody who may not set it."""
    refused = identities["editor"].create(collection(version), an_object(version, {key: ""}))

    assert 403 == refused.status
    assert key in refused.message
    identities["remediator"].create(collection(version), an_object(version, {key: ""})).ok()


def checks(version: str) -> str:
    return f"/apis/{version}/namespaces/default/machinehealthchecks"


def a_check(version: str, annotations: Json | None = None) -> Json:
    spec = {
        "selector": {"matchLabels": {"role": "worker"}},
        "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m"}],
    }
    named = {"name": f"check-{next(NUMBERS)}", "annotations": annotations or {}}
    return {"apiVersion": version, "kind": "MachineHealthCheck", "metadata": named, "spec": spec}


@pytest.mark.parametrize("version", CHECKS)
def test_an_editor_of_checks_cannot_have_machines_marked(identities: dict[str, Api], version: str) -> None:
    """Annotation mode makes a check power-cycle machines, so switching it on takes the right to repair them."""
    check = identities["admin"].create(checks(version), a_check(version)).ok()
    path = f"{checks(version)}/{check['metadata']['name']}"
    refused = identities["editor"].merge(path, {"metadata": {"annotations": {STRATEGY: "external-baremetal"}}})

    assert 403 == refused.status
    assert f"MachineHealthCheck default/{check['metadata']['name']}" in refused.message
    assert STRATEGY in refused.message
    assert STRATEGY not in identities["admin"].get(path).ok()["metadata"].get("annotations", {})
    identities["editor"].merge(path, {"spec": {"maxUnhealthy": "30%"}}).ok()
    identities["remediator"].merge(path, {"metadata": {"annotations": {STRATEGY: "external-baremetal"}}}).ok()
    assert 403 == identities["editor"].merge(path, {"metadata": {"annotations": {STRATEGY: None}}}).status


@pytest.mark.parametrize("version", CHECKS)
def test_a_check_is_not_born_in_annotation_mode(identities: dict[str, Api], version: str) -> None:
    """Who may only edit checks cannot create one that has machines marked."""
    marking = a_check(version, {STRATEGY: "external-baremetal"})
    refused = identities["editor"].create(checks(version), marking)

    assert (403, True) == (refused.status, STRATEGY in refused.message)
    identities["remediator"].create(checks(version), marking).ok()


def a_node(admin: Api) -> str:
    """The path of a new Node."""
    name = f"node-{next(NUMBERS)}"
    admin.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}).ok()
    return f"/api/v1/nodes/{name}"


def test_a_node_is_repaired_now_by_remediators_only(identities: dict[str, Api]) -> None:
    """Repair-now on a Node takes the right too; labels and status stay everybody's who may edit Nodes."""
    path = a_node(identities["admin"])
    asked = {"metadata": {"annotations": {REPAIR: ""}}}
    refused = identities["editor"].merge(path, asked)

    assert 403 == refused.status
    assert REPAIR in refused.message
    identities["editor"].merge(path, {"metadata": {"labels": {"a": "b"}}}).ok()
    identities["editor"].merge(f"{path}/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}).ok()
    identities["remediator"].merge(path, asked).ok()


@pytest.mark.parametrize("value", ["", None])
def test_the_status_of_a_node_is_no_way_in(identities: dict[str, Api], value: str | None) -> None:
    """A write to the status of a Node carries annotations along: it takes the right as well, to set and to remove."""
    admin, editor = identities["admin"], identities["editor"]
    path = a_node(admin)
    admin.merge(path, {"metadata": {"annotations": {REPAIR: "as it was"} if value is None else {}}}).ok()
    heartbeat = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    asking = {"metadata": {"annotations": {REPAIR: value}}, **heartbeat}
    refused = editor.merge(f"{path}/status", asking)

    assert (403, True) == (refused.status, "node-remedy-remediator" in refused.message)
    assert (value is None) == (REPAIR in admin.get(path).ok()["metadata"].get("annotations", {}))
    identities["remediator"].merge(f"{path}/status", asking).ok()


def test_a_kubelet_reports_whatever_its_node_carries(identities: dict[str, Api]) -> None:
    """Status, and the annotations that others keep there, are written freely, also while a repair is asked for."""
    admin, editor = identities["admin"], identities["editor"]
    path = a_node(admin)
    admin.merge(path, {"metadata": {"annotations": {REPAIR: ""}}}).ok()
    report = {
        "metadata": {"annotations": {"mine": "1"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    editor.merge(f"{path}/status", report).ok()

    assert {REPAIR: "", "mine": "1"}.items() <= admin.get(path).ok()["metadata"]["annotations"].items()


def test_the_manager_gives_a_node_back_what_means_nothing_there(identities: dict[str, Api]) -> None:
    """A mark for a Machine that somebody put on a Node by mistake is in its backup: it must not refuse the restore."""
    notes = {EXTERNAL: "", "cluster.x-k8s.io/remediate-machine": "", "mine": "1"}
    path = a_node(identities["admin"])
    identities["manager"].merge(path, {"metadata": {"annotations": notes}}).ok()

    assert notes.items() <= identities["admin"].get(path).ok()["metadata"]["annotations"].items()
    assert 403 == identities["manager"].merge(path, {"metadata": {"annotations": {REPAIR: ""}}}).status


@pytest.mark.parametrize(("touch", "is_there"), WAYS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_hold_of_the_providers_own_controller_is_left_to_it(
    identities: dict[str, Api], touch: Touch, is_there: bool
) -> None:
    """Without a record of ours beside it, the key is set, changed and taken off by whoever may edit hosts."""
    thing = identities["admin"].create(collection(HOST), an_object(HOST, {REBOOT_FOR: "x"} if is_there else {})).ok()
    touch(identities["editor"], path_of(thing), thing, REBOOT_FOR).ok()

    assert stored(identities["admin"], thing) != ({REBOOT_FOR: "x"} if is_there else {})


@pytest.mark.parametrize("value", [None, "another"])
@pytest.mark.parametrize("record", [None, "{}"])
def test_a_hold_with_our_record_is_out_of_reach(
    identities: dict[str, Api], value: str | None, record: str | None
) -> None:
    """Neither alone nor together with its record: a host that we free stays off until we release it."""
    held = {REBOOT_FOR: '{"mode":"hard"}', HOLD_FOR: '{"machineUid":"m"}'}
    thing = identities["admin"].create(collection(HOST), an_object(HOST, held)).ok()
    editor, path = identities["editor"], path_of(thing)

    for notes in ({REBOOT_FOR: value}, {HOLD_FOR: record}, {REBOOT_FOR: value, HOLD_FOR: record}):
        assert 403 == editor.merge(path, {"metadata": {"annotations": notes}}).status
    assert held == stored(identities["admin"], thing)
    identities["manager"].merge(path, {"metadata": {"annotations": {REBOOT_FOR: None, HOLD_FOR: None}}}).ok()


def test_a_record_beside_a_hold_of_somebody_else_takes_the_right(identities: dict[str, Api]) -> None:
    """Nobody turns a hold that proves nothing into one that does."""
    thing = identities["admin"].create(collection(HOST), an_object(HOST, {REBOOT_FOR: ""})).ok()
    refused = identities["editor"].merge(path_of(thing), {"metadata": {"annotations": {HOLD_FOR: "{}"}}})

    assert (403, {REBOOT_FOR: ""}) == (refused.status, stored(identities["admin"], thing))


def test_a_generated_name_changes_nothing(identities: dict[str, Api]) -> None:
    """An object whose name the server will choose is judged all the same."""
    thing = an_object(CAPI, {EXTERNAL: ""})
    thing["metadata"] = {"generateName": "new-", "annotations": {EXTERNAL: ""}}

    assert 403 == identities["editor"].create(collection(CAPI), thing).status
    identities["remediator"].create(collection(CAPI), thing).ok()


@pytest.mark.parametrize("version", PLURALS)
def test_everything_else_is_left_to_the_editor(identities: dict[str, Api], version: str) -> None:
    """Labels, spec and other annotations are changed freely, on an object under repair too."""
    editor, key = identities["editor"], ON_HOSTS[0] if version == HOST else EXTERNAL
    thing = identities["admin"].create(collection(version), an_object(version, {key: "kept"})).ok()
    change = {"metadata": {"labels": {"a": "b"}, "annotations": {"mine": "1", "reboot.metal3.io/another-client": ""}}}
    editor.merge(path_of(thing), {**change, "spec": {"providerID": "x"}}).ok()

    assert {key: "kept", "mine": "1", "reboot.metal3.io/another-client": ""} == stored(identities["admin"], thing)


@pytest.mark.parametrize(("version", "key"), [(CAPI, EXTERNAL), (HOST, ON_HOSTS[0])])
def test_the_status_door_is_no_way_in(identities: dict[str, Api], version: str, key: str) -> None:
    """A write to the status subresource cannot carry an annotation in."""
    thing = identities["admin"].create(collection(version), an_object(version)).ok()
    patch = {"metadata": {"annotations": {key: ""}}, "status": {"phase": "Running"}}
    identities["editor"].merge(path_of(thing) + "/status", patch)

    assert {} == stored(identities["admin"], thing)


def test_the_right_may_be_given_for_one_machine(installed_plane: ControlPlane, identities: dict[str, Api]) -> None:
    """`remediate` on one name admits that Machine and no other."""
    admin, viewer = identities["admin"], installed_plane.api("viewer")
    mine, other = (admin.create(collection(CAPI), an_object(CAPI)).ok() for _ in range(2))
    allow(admin, "edit-viewer", [("cluster.x-k8s.io", "machines", ("get", "patch"))], "viewer")
    rule = ["--verb=remediate", "--resource=machines.cluster.x-k8s.io", f"--resource-name={mine['metadata']['name']}"]
    kubectl(installed_plane, "create", "clusterrole", "one-machine", *rule)
    bind(admin, "one-machine", "one-machine", "viewer")

    eventually(lambda: set_by_merge(viewer, path_of(mine), mine, EXTERNAL).status == 200, "the right is in force")
    assert 403 == set_by_merge(viewer, path_of(other), other, EXTERNAL).status


def test_the_policy_type_checks(installed_plane: ControlPlane) -> None:
    """The API server found nothing doubtful in the expressions of the policy."""
    api = installed_plane.api()
    status = eventually(lambda: api.get(POLICY).ok().get("status", {}).get("typeChecking") is not None, "type check")

    assert status
    assert [] == api.get(POLICY).ok()["status"]["typeChecking"].get("expressionWarnings", [])


def test_sabotage_without_the_binding_the_editor_is_admitted(
    installed_plane: ControlPlane, identities: dict[str, Api]
) -> None:
    """It is the shipped policy that refuses: without its binding the same request passes, with it again not."""
    name = "validatingadmissionpolicybinding/node-remedy-remediation-annotations"
    thing = identities["admin"].create(collection(CAPI), an_object(CAPI)).ok()
    editor, path = identities["editor"], path_of(thing)
    kubectl(installed_plane, "delete", name)
    try:
        eventually(lambda: set_by_merge(editor, path, thing, EXTERNAL).status == 200, "the policy is out of force")
    finally:
        kubectl(installed_plane, "apply", "--server-side", "-f", DEPLOY / "admission")

    again = (editor.merge(path, {"metadata": {"annotations": {EXTERNAL: str(n)}}}).status == 403 for n in count())
    eventually(lambda: next(again), "the policy is in force again")
