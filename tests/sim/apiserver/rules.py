"""The rules of an API server, each shown on a fresh server. `test_rules.py` runs them, and breaks them one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sim.apiserver.support import (
    BUDGET,
    CONFIG,
    LEASE,
    NAMESPACE,
    NODE,
    POD,
    WIDGET,
    a_config,
    a_definition,
    a_node,
    a_pod,
    a_widget,
    ask,
    names,
    tree_of,
)

from noderemedy.model.time import Wall
from noderemedy.sim.apiserver import ADMIN, ApiError, ApiServer, Tree, User, WatchEvent
from noderemedy.sim.apiserver.admission import Hook
from noderemedy.sim.apiserver.options import Options
from noderemedy.wire.http import Request


def refused(code: int, act: Callable[[], object]) -> ApiError:
    """The refusal of an act, with this code."""
    with pytest.raises(ApiError) as refusal:
        act()
    assert code == refusal.value.code, refusal.value
    return refusal.value


def rule_stale_update(server: ApiServer) -> None:
    """An update of an old version is a conflict and changes nothing."""
    old = server.create(a_config("one", {"k": "1"}))
    server.patch(CONFIG, "one", "default", {"data": {"k": "2"}})
    refused(409, lambda: server.update({**old, "data": {"k": "3"}}))
    assert {"k": "2"} == server.get(CONFIG, "one", "default")["data"]


def rule_stale_patch(server: ApiServer) -> None:
    """A patch that names an old version is a conflict."""
    old = server.create(a_config("one"))
    server.patch(CONFIG, "one", "default", {"data": {"k": "2"}})
    body = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}, "data": {"k": "3"}}
    refused(409, lambda: server.patch(CONFIG, "one", "default", body))


def rule_uid_of_update(server: ApiServer) -> None:
    """An update that names another uid is a conflict, a patch that does is invalid."""
    made = server.create(a_config("one"))
    other = {**made, "metadata": {"name": "one", "namespace": "default", "uid": "other"}, "data": {"k": "1"}}
    refused(409, lambda: server.update(other))
    refused(422, lambda: server.patch(CONFIG, "one", "default", {"metadata": {"uid": "other"}}))


def rule_uid_of_delete(server: ApiServer) -> None:
    """A deletion that names another uid or another version is a conflict."""
    made = server.create(a_config("one"))
    refused(409, lambda: server.delete(CONFIG, "one", "default", uid="other"))
    refused(409, lambda: server.delete(CONFIG, "one", "default", resource_version="1"))
    meta = made["metadata"]
    server.delete(CONFIG, "one", "default", uid=meta["uid"], resource_version=meta["resourceVersion"])
    assert server.find(CONFIG, "one", "default") is None


def rule_finalizers(server: ApiServer) -> None:
    """A finalizer holds a deleted object; taking the last one lets it go; none may be added meanwhile."""
    server.create(a_config("one", finalizers=["x.dev/hold"]))
    server.delete(CONFIG, "one", "default")
    assert "deletionTimestamp" in server.get(CONFIG, "one", "default")["metadata"]
    more = {"metadata": {"finalizers": ["x.dev/hold", "x.dev/more"]}}
    refused(422, lambda: server.patch(CONFIG, "one", "default", more))
    server.patch(CONFIG, "one", "default", {"metadata": {"finalizers": None}})
    assert server.find(CONFIG, "one", "default") is None


def rule_status_apart(server: ApiServer) -> None:
    """Status changes only through its subresource, and nothing else changes there."""
    server.create(a_definition())
    server.create({**a_widget("w", size=1), "status": {"phase": "Lie"}})
    assert "status" not in server.get(WIDGET, "w", "default")
    server.patch(WIDGET, "w", "default", {"spec": {"size": 2}, "status": {"phase": "Up"}}, subresource="status")
    server.patch(WIDGET, "w", "default", {"spec": {"size": 3}, "status": {"phase": "Down"}})
    found = server.get(WIDGET, "w", "default")
    assert (3, "Up") == (found["spec"]["size"], found["status"]["phase"])


def rule_generation(server: ApiServer) -> None:
    """The generation counts changes of the spec, not of status or metadata."""
    server.create(a_definition())
    server.create(a_widget("w", size=1))
    server.patch(WIDGET, "w", "default", {"metadata": {"labels": {"a": "b"}}})
    server.patch(WIDGET, "w", "default", {"status": {"phase": "Up"}}, subresource="status")
    assert 1 == server.get(WIDGET, "w", "default")["metadata"]["generation"]
    server.patch(WIDGET, "w", "default", {"spec": {"size": 2}})
    assert 2 == server.get(WIDGET, "w", "default")["metadata"]["generation"]


def rule_unchanged(server: ApiServer) -> None:
    """A write that changes nothing keeps the version and tells nobody."""
    made = server.create(a_node("n1", unschedulable=True))
    told: list[WatchEvent] = []
    server.subscribe(NODE, told.append)
    again = server.patch(NODE, "n1", body={"spec": {"unschedulable": True}})
    server.update(made)
    assert (made, []) == (again, told)


def rule_pruning(server: ApiServer) -> None:
    """Fields that a custom kind does not have are dropped, or refused when asked to be strict."""
    server.create(a_definition())
    assert {"size": 1} == server.create(a_widget("w", size=1, surprise=2))["spec"]
    path = "/apis/example.dev/v1/namespaces/default/widgets"
    page = ask(server, "POST", path, a_widget("v", size=1, surprise=2), fieldValidation="Strict")
    assert (400, True) == (page.status, "spec.surprise" in tree_of(page)["message"])


def rule_core_pruning(server: ApiServer) -> None:
    """Built-in kinds drop unknown fields and zeros that are not written, and refuse wrong types."""
    made = server.create({**a_node("n1", unschedulable=False, surprise=1), "extra": {}})
    assert ({"taints"}, False) == (set(made["spec"]), "extra" in made)
    refused(400, lambda: server.create(a_node("n2", unschedulable="yes")))


def rule_schema(server: ApiServer) -> None:
    """Values that a schema forbids are invalid, all of them named."""
    size = {"type": "integer", "minimum": 1}
    properties = {"size": size, "color": {"type": "string", "enum": ["red"], "default": "red"}}
    server.create(a_definition({"type": "object", "required": ["size"], "properties": properties}))
    error = refused(422, lambda: server.create(a_widget("w", size=0, color="blue")))
    assert ["spec.size", "spec.color"] == [cause["field"] for cause in error.details["causes"]]
    refused(422, lambda: server.create(a_widget("w")))
    assert "red" == server.create(a_widget("w", size=1))["spec"]["color"]


def rule_names(server: ApiServer) -> None:
    """A name that is no RFC 1123 subdomain is invalid."""
    for name in ("Upper", "under_score", "-dash", "a" * 254):
        error = refused(422, lambda name=name: server.create(a_config(name)))  # type: ignore[misc]
        assert "metadata.name" == error.details["causes"][0]["field"]


def rule_namespace_exists(server: ApiServer) -> None:
    """Nothing is created in a namespace that is not there, or that is going."""
    refused(404, lambda: server.create(a_config("one", namespace="none")))
    server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going"}})
    server.create(a_config("held", namespace="going", finalizers=["x.dev/hold"]))
    server.delete(NAMESPACE, "going")
    refused(403, lambda: server.create(a_config("one", namespace="going")))
    server.patch(CONFIG, "held", "going", {"metadata": {"finalizers": None}})
    assert server.find(NAMESPACE, "going") is None


def rule_grace(server: ApiServer) -> None:
    """A bound pod stays until its kubelet deletes it without grace; an unbound one goes at once."""
    server.create(a_pod("bound", "n1"))
    server.create(a_pod("loose"))
    server.delete(POD, "bound", "default")
    server.delete(POD, "loose", "default")
    meta = server.get(POD, "bound", "default")["metadata"]
    assert (30, None) == (meta["deletionGracePeriodSeconds"], server.find(POD, "loose", "default"))
    server.delete(POD, "bound", "default", grace=0)
    assert server.find(POD, "bound", "default") is None


def _a_budget(server: ApiServer, **spec: Any) -> None:
    selector = {"matchLabels": {"app": "db"}}
    meta = {"name": "budget", "namespace": "default"}
    tree = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta}
    server.create({**tree, "spec": {"selector": selector, **spec}})


def rule_budget(server: ApiServer) -> None:
    """A budget lets as many pods go as it has room for, then answers 429."""
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    for name in ("a", "b"):
        server.create(a_pod(name, "n1", {"app": "db"}))
        server.patch(POD, name, "default", ready, subresource="status")
    _a_budget(server, minAvailable=1)
    server.evict("a", "default")
    error = refused(429, lambda: server.evict("b", "default"))
    assert "disruption budget" in error.message
    assert "deletionTimestamp" not in server.get(POD, "b", "default")["metadata"]
    assert 0 == server.get(BUDGET, "budget", "default")["status"]["disruptionsAllowed"]


def rule_garbage(server: ApiServer) -> None:
    """Dependents go with their owner, unless they are orphaned or another owner lives."""
    owners = [server.create(a_config(name))["metadata"] for name in ("a", "b")]
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": one["name"], "uid": one["uid"]} for one in owners]
    server.create(a_config("of-a", ownerReferences=refs[:1]))
    server.create(a_config("of-both", ownerReferences=refs))
    server.delete(CONFIG, "a", "default")
    assert ["b", "of-both"] == names(server.list(CONFIG, "default"))
    assert refs[1:] == server.get(CONFIG, "of-both", "default")["metadata"]["ownerReferences"]
    server.delete(CONFIG, "b", "default", propagation="Orphan")
    assert "ownerReferences" not in server.get(CONFIG, "of-both", "default")["metadata"]


def rule_foreground(server: ApiServer) -> None:
    """An owner deleted in the foreground waits for the dependents that block it."""
    owner = server.create(a_config("a"))["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner["uid"]}
    held = [{**reference, "blockOwnerDeletion": True}]
    server.create(a_config("of-a", ownerReferences=held, finalizers=["x.dev/hold"]))
    server.delete(CONFIG, "a", "default", propagation="Foreground")
    assert ["a", "of-a"] == names(server.list(CONFIG, "default"))
    server.patch(CONFIG, "of-a", "default", {"metadata": {"finalizers": None}})
    assert [] == server.list(CONFIG, "default")


def rule_label_selector(server: ApiServer) -> None:
    """A list with a selector holds what matches, and a watch sees leaving as deletion."""
    server.create(a_config("a", labels={"on": "yes"}))
    server.create(a_config("b"))
    assert ["a"] == names(server.list(CONFIG, "default", labels="on=yes"))
    told: list[str] = []
    path = "/api/v1/namespaces/default/configmaps"
    query = (("watch", "true"), ("labelSelector", "on=yes"))
    server.watch(Request("GET", path, query), lambda event: told.append(event.type))
    server.patch(CONFIG, "a", "default", {"metadata": {"labels": {"on": None}}})
    assert ["ADDED", "DELETED"] == told


def rule_gone(server: ApiServer) -> None:
    """A watch from a version that is forgotten gets one ERROR event with code 410 and is closed."""
    server.create(a_config("a"))
    then = server.resource_version
    server.create(a_config("b"))
    server.compact()
    told: list[WatchEvent] = []
    query = (("watch", "true"), ("resourceVersion", str(then)))
    subscription = server.watch(Request("GET", "/api/v1/configmaps", query), told.append)
    assert ["ERROR"] == [event.type for event in told]
    assert (410, "Expired", False) == (told[0].tree["code"], told[0].tree["reason"], subscription.is_open)


def rule_pages(server: ApiServer) -> None:
    """Pages show one moment, tell how many remain, and end with 410 when that moment is forgotten."""
    for name in "abcde":
        server.create(a_config(name))
    path = "/api/v1/namespaces/default/configmaps"
    first = tree_of(ask(server, "GET", path, limit="2"))
    server.delete(CONFIG, "c", "default")
    second = tree_of(ask(server, "GET", path, limit="2", **{"continue": first["metadata"]["continue"]}))
    assert (["a", "b"], 3, ["c", "d"]) == (
        names(first["items"]),
        first["metadata"]["remainingItemCount"],
        names(second["items"]),
    )
    server.compact()
    late = ask(server, "GET", path, limit="2", **{"continue": second["metadata"]["continue"]})
    assert 410 == late.status


def _apply(server: ApiServer, manager: str, data: Tree, force: bool = False) -> Tree:
    return server.patch(CONFIG, "one", "default", a_config("one", data), "apply", manager=manager, force=force)


def rule_apply_conflict(server: ApiServer) -> None:
    """An apply over another manager's value is a conflict unless it is forced."""
    _apply(server, "first", {"a": "1"})
    error = refused(409, lambda: _apply(server, "second", {"a": "2"}))
    assert [".data.a"] == [cause["field"] for cause in error.details["causes"]]
    assert {"a": "2"} == _apply(server, "second", {"a": "2"}, force=True)["data"]


def rule_apply_removes(server: ApiServer) -> None:
    """A field that its only manager no longer applies goes; a field that another owns stays."""
    _apply(server, "first", {"a": "1", "b": "2"})
    _apply(server, "second", {"b": "2", "c": "3"})
    assert {"b": "2", "c": "3"} == _apply(server, "first", {})["data"]


def rule_hooks(server: ApiServer) -> None:
    """A hook that refuses stops the write before anything changes."""

    def refuse(verb: str, resource: object, old: object, new: object, user: User) -> None:
        raise ApiError(403, "Forbidden", f"{user.name} may not {verb}")

    hook: Hook = refuse
    server.hooks.append(hook)
    before = server.resource_version
    refused(403, lambda: server.create(a_config("one")))
    assert (403, before) == (
        ask(server, "GET", "/api/v1/nodes").status,
        server.resource_version,
    )


def rule_renewal(server: ApiServer) -> None:
    """What says the same again later is a write like a patch: hooks, version, watchers, owners of fields."""
    status = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2030-01-01T00:00:00Z"}]}
    server.create(a_node("one"))
    old = server.patch(NODE, "one", "", {"status": status}, subresource="status")
    told: list[WatchEvent] = []
    verbs: list[str] = []
    server.subscribe(NODE, told.append)
    server.hooks.append(lambda verb, resource, old, new, user: verbs.append(verb))
    options = Options(manager="sim", subresource="status", verb="patch")
    condition = {**old["status"]["conditions"][0], "lastHeartbeatTime": "2030-01-01T00:00:05Z"}
    renewed = server.renew(NODE, old, "status", {**old["status"], "conditions": [condition]}, options)
    patched = server.patch(NODE, "one", "", {"status": {"conditions": [condition]}}, subresource="status")
    assert (renewed, [renewed], ["patch/status"]) == (patched, [event.tree for event in told], verbs)
    assert int(old["metadata"]["resourceVersion"]) + 1 == int(renewed["metadata"]["resourceVersion"])


def rule_authorizer(server: ApiServer) -> None:
    """Who may not is told so over HTTP, in the words of a real server."""
    server.authorize_with(lambda access: access.user == ADMIN)
    page = ask(server, "GET", "/api/v1/nodes", user=User("eve"))
    why = 'nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope'
    assert (403, why) == (page.status, tree_of(page)["message"])


def rule_dry_run(server: ApiServer) -> None:
    """A dry run answers and writes nothing."""
    before = server.resource_version
    page = ask(server, "POST", "/api/v1/namespaces/default/configmaps", a_config("one"), dryRun="All")
    assert (201, before, None) == (page.status, server.resource_version, server.find(CONFIG, "one", "default"))


def rule_lease_needs_version(server: ApiServer) -> None:
    """A Lease is replaced only by naming the version that is replaced."""
    meta = {"name": "l", "namespace": "default"}
    tree = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}
    made = server.create({**tree, "spec": {"holderIdentity": "a"}})
    refused(422, lambda: server.update({**tree, "spec": {"holderIdentity": "b"}}))
    server.update({**made, "spec": {"holderIdentity": "b"}})
    assert "b" == server.get(LEASE, "l", "default")["spec"]["holderIdentity"]


def rule_already_exists(server: ApiServer) -> None:
    """A name that is taken is 409 AlreadyExists."""
    server.create(a_config("one"))
    error = refused(409, lambda: server.create(a_config("one")))
    assert "AlreadyExists" == error.reason


def rule_answers_carry_the_clock(server: ApiServer) -> None:
    """An answer carries the server's own clock."""
    assert Wall(1_700_000_000_000) == ask(server, "GET", "/version").date


RULES = {name.removeprefix("rule_"): rule for name, rule in sorted(globals().items()) if name.startswith("rule_")}
