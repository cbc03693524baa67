"""HTTP in values: codes, bodies, discovery, tables, reviews, scale."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sim.apiserver.support import CONFIG, Clock, a_config, a_node, a_pod, a_widget, ask, tree_of

from noderemedy.sim.apiserver import ADMIN, ApiServer, Tree, User
from noderemedy.sim.apiserver.clock import second_of
from noderemedy.sim.apiserver.columns import duration, event_cells
from noderemedy.sim.apiserver.errors import too_many_requests
from noderemedy.sim.apiserver.tables import at_path

CONFIGS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
MERGE = "application/merge-patch+json"
SET: Tree = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {
        "serviceName": "db",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "m", "image": "m"}]},
        },
    },
}

CODES: list[tuple[str, str, Any, dict[str, str], int]] = [
    ("GET", "/healthz", None, {}, 200),
    ("GET", "/readyz/etcd", None, {}, 200),
    ("GET", "/openapi/v2", None, {}, 200),
    ("GET", "/nothing", None, {}, 404),
    ("GET", "/apis/none.dev/v1", None, {}, 404),
    ("GET", "/api/v1/nothings", None, {}, 404),
    ("GET", "/api/v1/namespaces/default/nodes", None, {}, 404),
    ("GET", "/api/v1/pods/p1", None, {}, 404),
    ("GET", f"{CONFIGS}/one/nothing", None, {}, 404),
    ("POST", f"{CONFIGS}/one", a_config("one"), {}, 405),
    ("POST", "/api/v1/configmaps", a_config("one"), {}, 405),
    ("PUT", CONFIGS, a_config("one"), {}, 405),
    ("DELETE", "/api/v1/namespaces", None, {}, 405),
    ("POST", CONFIGS, b"{", {}, 400),
    ("POST", CONFIGS, b"[]", {}, 400),
    ("POST", CONFIGS, a_node("n"), {}, 400),
    ("POST", CONFIGS, {**a_config("one"), "apiVersion": "v2"}, {}, 400),
    ("POST", CONFIGS, a_config("one", namespace="kube-system"), {}, 400),
    ("POST", CONFIGS, a_config("two"), {"dryRun": "Some"}, 422),
    ("POST", CONFIGS, a_config("two"), {"fieldValidation": "Very"}, 422),
    ("PUT", f"{CONFIGS}/one", a_config("two"), {}, 400),
    ("PUT", f"{CONFIGS}/none", a_config("none"), {}, 404),
    ("PATCH", f"{CONFIGS}/one", {}, {}, 415),
    ("DELETE", f"{CONFIGS}/none", None, {}, 404),
    ("DELETE", f"{CONFIGS}/one", {"propagationPolicy": "Sideways"}, {}, 422),
    ("DELETE", f"{CONFIGS}/one", {"orphanDependents": True, "propagationPolicy": "Orphan"}, {}, 422),
    ("DELETE", "/api/v1/namespaces/default", None, {}, 403),
    ("GET", CONFIGS, None, {"limit": "x"}, 400),
    ("GET", CONFIGS, None, {"continue": "x"}, 400),
    ("GET", CONFIGS, None, {"resourceVersion": "9999"}, 504),
    ("GET", f"{CONFIGS}/one", None, {"resourceVersion": "9999"}, 504),
]


@pytest.mark.parametrize(("method", "path", "body", "query", "code"), CODES)
def test_code(server: ApiServer, method: str, path: str, body: Any, query: dict[str, str], code: int) -> None:
    """The request is answered with this code, and a refusal changes nothing."""
    server.create(a_config("one"))
    before = server.resource_version
    assert code == ask(server, method, path, body, asked=query).status
    assert before == server.resource_version


def test_bodies_may_be_yaml(server: ApiServer) -> None:
    """YAML is read as JSON would be: a timestamp stays text."""
    text = b"metadata: {name: one}\ndata: {when: '2026-01-02T03:04:05Z', also: 2026-01-02T03:04:05Z}\n"
    page = ask(server, "POST", CONFIGS, text, "application/yaml")
    assert (201, "2026-01-02T03:04:05Z") == (page.status, tree_of(page)["data"]["also"])


def test_delete_answers_a_status_or_the_object(server: ApiServer) -> None:
    """What is gone is a Status with its uid; what is held, and a pod, is shown."""
    uid = server.create(a_config("free"))["metadata"]["uid"]
    server.create(a_config("held", finalizers=["x.dev/hold"]))
    server.create(a_pod("p"))
    gone = tree_of(ask(server, "DELETE", f"{CONFIGS}/free"))
    assert ("Success", {"name": "free", "kind": "configmaps", "uid": uid}) == (gone["status"], gone["details"])
    assert "ConfigMap" == tree_of(ask(server, "DELETE", f"{CONFIGS}/held"))["kind"]
    assert "Pod" == tree_of(ask(server, "DELETE", "/api/v1/namespaces/default/pods/p"))["kind"]


def test_a_collection_is_deleted_by_selector(server: ApiServer) -> None:
    """Deleting a collection takes what the selector lets through and leaves the rest."""
    for name, label in (("a", "yes"), ("b", "no"), ("c", "yes")):
        server.create(a_config(name, labels={"on": label}))
    page = ask(server, "DELETE", CONFIGS, labelSelector="on=yes")
    assert (200, "ConfigMapList", 2) == (page.status, tree_of(page)["kind"], len(tree_of(page)["items"]))
    assert ["b"] == [tree["metadata"]["name"] for tree in server.list(CONFIG, "default")]


def test_unknown_fields_are_warned_about(server: ApiServer) -> None:
    """By default an unknown field is dropped with a warning."""
    page = ask(server, "POST", CONFIGS, {**a_config("one"), "surprise": 1})
    assert (201, ('unknown field "surprise"',)) == (page.status, page.warnings)
    assert () == ask(server, "GET", CONFIGS).warnings


def test_too_many_requests_say_when_to_retry(server: ApiServer) -> None:
    """A refusal with a hint carries it as retry_after."""

    def busy(*_: Any) -> None:
        raise too_many_requests("slow down", retry_after=7)

    server.hooks.append(busy)
    page = ask(server, "GET", CONFIGS)
    assert (429, 7000) == (page.status, page.retry_after.ms if page.retry_after else 0)


def test_aggregated_discovery_covers_the_plain_one(widgets: ApiServer) -> None:
    """Both forms of discovery name the same resources, custom kinds among them."""
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    page = ask(widgets, "GET", "/apis", accept=accept)
    assert "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" == page.content_type
    found = {}
    for group in tree_of(page)["items"]:
        for version in group["versions"]:
            path = f"/apis/{group['metadata']['name']}/{version['version']}"
            found[path] = sorted(one["resource"] for one in version["resources"])
    for path, resources in found.items():
        plain = tree_of(ask(widgets, "GET", path))["resources"]
        assert resources == sorted(one["name"] for one in plain if "/" not in one["name"])
    assert ["widgets"] == found["/apis/example.dev/v1"]


def test_node_table(server: ApiServer, clock: Clock) -> None:
    """A node's row tells status, roles, age and version."""
    tree = a_node("n1", unschedulable=True)
    tree["metadata"]["labels"] = {"node-role.kubernetes.io/worker": ""}
    conditions = [{"type": "Ready", "status": "True"}]
    server.create({**tree, "status": {"conditions": conditions, "nodeInfo": {"kubeletVersion": "v1.36.3"}}})
    clock.ms += 90_000
    table = tree_of(ask(server, "GET", "/api/v1/nodes", accept=TABLE))
    assert ["n1", "Ready,SchedulingDisabled", "worker", "90s", "v1.36.3"] == table["rows"][0]["cells"][:5]


def test_every_kind_has_a_table(widgets: ApiServer) -> None:
    """Each row has as many cells as there are columns, for every kind with an object."""
    for tree in (a_node("n1"), a_pod("p"), a_config("c"), SET, a_widget("w", size=1)):
        widgets.create(tree)
    for resource in widgets.resources.all():
        if "list" in resource.verbs:
            root = f"/apis/{resource.group}/v1" if resource.group else "/api/v1"
            table = tree_of(ask(widgets, "GET", f"{root}/{resource.plural}", accept=TABLE))
            assert {len(table["columnDefinitions"])} >= {len(row["cells"]) for row in table["rows"]}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5s"), (119, "119s"), (125, "2m5s"), (601, "10m"), (10_800, "3h"), (12_000, "3h20m"), (200_000, "2d7h")],
)
def test_ages_are_short(seconds: int, text: str) -> None:
    """Ages read as kubectl writes them."""
    assert text == duration(seconds)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".spec.size", [3]),
        ("{.spec.size}", [3]),
        (".spec.none", []),
        (".list[0].a", [1]),
        (".list[*].a", [1, 2]),
        ('.list[?(@.name=="x")].a', [2]),
        (".metadata.labels.a\\.b/c", ["d"]),
    ],
)
def test_column_paths(path: str, expected: list[Any]) -> None:
    """The few steps of JSONPath that columns use are understood."""
    tree = {"spec": {"size": 3}, "list": [{"a": 1, "name": "w"}, {"a": 2, "name": "x"}]}
    assert expected == at_path({**tree, "metadata": {"labels": {"a.b/c": "d"}}}, path)


def test_scale(server: ApiServer) -> None:
    """The scale of a set is read, replaced and patched."""
    server.create(SET)
    path = "/apis/apps/v1/namespaces/default/statefulsets/db/scale"
    scale = tree_of(ask(server, "GET", path))
    assert (1, "app=db") == (scale["spec"]["replicas"], scale["status"]["selector"])
    ask(server, "PATCH", path, {"spec": {"replicas": 3}}, MERGE)
    assert 3 == tree_of(ask(server, "GET", path))["spec"]["replicas"]
    assert 409 == ask(server, "PUT", path, scale).status


def test_core_events_are_another_view(server: ApiServer) -> None:
    """An event written as events.k8s.io is read as a core event by its involved object, and the reverse."""
    event = {"metadata": {"name": "e", "namespace": "default"}, "regarding": {"kind": "Node", "name": "n1"}}
    body = {**event, "note": "hello", "reason": "Tested", "type": "Normal"}
    assert 201 == ask(server, "POST", "/apis/events.k8s.io/v1/namespaces/default/events", body).status
    path = "/api/v1/namespaces/default/events"
    listing = tree_of(ask(server, "GET", path, fieldSelector="involvedObject.name=n1"))
    assert [("hello", "n1")] == [(one["message"], one["involvedObject"]["name"]) for one in listing["items"]]
    ask(server, "PATCH", f"{path}/e", {"message": "again"}, MERGE)
    assert "again" == tree_of(ask(server, "GET", "/apis/events.k8s.io/v1/namespaces/default/events/e"))["note"]


def test_an_event_was_last_seen_when_it_was_counted_last() -> None:
    """`kubectl get events` shows the end of a series; the beginning of what happened once."""
    once = {"metadata": {"creationTimestamp": "2026-01-02T03:00:00Z"}}
    now = second_of("2026-01-02T03:30:00Z")
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:20:00.000000Z"}

    assert ["30m", "10m"] == [event_cells(tree, now)[0] for tree in (once, {**once, "series": series})]


def _review(server: ApiServer, user: User, verb: str, resource: str) -> bool:
    spec = {"resourceAttributes": {"verb": verb, "resource": resource, "namespace": "default"}}
    page = ask(server, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": spec}, user=user)
    assert 201 == page.status
    found: bool = tree_of(page)["status"]["allowed"]
    return found


def test_roles_are_followed_where_wanted(server: ApiServer) -> None:
    """With the roles followed, a service account may do what its bindings say and nothing else."""
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": "default"}
    meta = {"name": "reader", "namespace": "default"}
    rule = {"apiGroups": [""], "resources": ["pods", "pods/eviction"], "verbs": ["get", "list", "create"]}
    server.create({"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta, "rules": [rule]})
    reference = {"apiGroup": group, "kind": "Role", "name": "reader"}
    binding = {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": meta}
    server.create({**binding, "roleRef": reference, "subjects": [subject]})
    server.enforce_roles()
    robot = User("system:serviceaccount:default:robot")
    pods = "/api/v1/namespaces/default/pods"
    assert [200, 403, 403, 200] == [
        ask(server, "GET", pods, user=robot).status,
        ask(server, "GET", "/api/v1/pods", user=robot).status,
        ask(server, "DELETE", f"{pods}/p", user=robot).status,
        ask(server, "GET", "/api/v1/pods", user=ADMIN).status,
    ]
    assert 404 == ask(server, "POST", f"{pods}/p/eviction", {}, user=robot).status
    assert (True, False) == (_review(server, robot, "list", "pods"), _review(server, robot, "delete", "pods"))
