"""Who may do what: roles, bindings, and questions about them."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import MERGE, Client, Json, Reply
from tests.conformance.objects import a_config, a_node, make_pod

GROUP = "rbac.authorization.k8s.io"


def _as_stranger(api: Client, method: str, path: str, body: Any = None) -> Reply:
    """Ask as an identity that has no rights but those that the case gave it."""
    content_type = MERGE if method == "PATCH" else "application/json"
    return api.call(method, path, body, token=api.site.restricted_token, content_type=content_type)


def _binding(api: Client, kind: str, role: str) -> Json:
    return {
        "metadata": {"name": role},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": "stranger"}],
    }


def _allow(api: Client, verbs: list[str], resources: list[str], **more: Any) -> None:
    """Give the stranger rights in this case's namespace."""
    rule = {"apiGroups": [""], "verbs": verbs, "resources": resources, **more}
    api.create("roles", {"metadata": {"name": "some"}, "rules": [rule]})
    api.create("rolebindings", _binding(api, "Role", "some"))


def _allow_everywhere(api: Client, verbs: list[str], resources: list[str]) -> None:
    """Give the stranger rights in the whole cluster until the case ends."""
    role = api.name("role")
    rule = {"apiGroups": [""], "verbs": verbs, "resources": resources}
    api.create("clusterroles", {"metadata": {"name": role}, "rules": [rule]})
    api.create("clusterrolebindings", _binding(api, "ClusterRole", role))


def case_nothing_is_allowed_by_default(api: Client) -> None:
    """An identity without bindings may neither read nor write."""
    api.create("configmaps", a_config("one"))
    _as_stranger(api, "GET", api.at("configmaps", "one")).refused(403, "Forbidden")
    _as_stranger(api, "POST", api.at("configmaps"), a_config("two")).refused(403, "Forbidden")
    assert api.gone(api.at("configmaps", "two"))


def case_role_allows_its_verbs_only(api: Client) -> None:
    """A role allows its verbs and no others."""
    api.create("configmaps", a_config("one"))
    _allow(api, ["get"], ["configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps", "one")).status == 200)
    _as_stranger(api, "GET", api.at("configmaps")).refused(403, "Forbidden")
    status = _as_stranger(api, "DELETE", api.at("configmaps", "one")).refused(403, "Forbidden")
    assert (
        f'configmaps "one" is forbidden: User "stranger" cannot delete resource "configmaps" in API group "" '
        f'in the namespace "{api.namespace}"'
    ) == status["message"]
    assert {"name": "one", "kind": "configmaps"} == status["details"]


def case_role_allows_in_its_namespace_only(api: Client) -> None:
    """A binding in a namespace says nothing about the others."""
    _allow(api, ["list"], ["configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps")).status == 200)
    _as_stranger(api, "GET", api.at("configmaps", namespace="default")).refused(403, "Forbidden")
    status = _as_stranger(api, "GET", api.everywhere("configmaps")).refused(403, "Forbidden")
    assert "at the cluster scope" in status["message"]


def case_role_may_name_objects(api: Client) -> None:
    """resourceNames restricts a role to some objects."""
    for name in ("mine", "other"):
        api.create("configmaps", a_config(name))
    _allow(api, ["patch"], ["configmaps"], resourceNames=["mine"])
    patch = {"data": {"k": "new"}}
    api.eventually(lambda: _as_stranger(api, "PATCH", api.at("configmaps", "mine"), patch).status == 200)
    _as_stranger(api, "PATCH", api.at("configmaps", "other"), patch).refused(403, "Forbidden")


def case_role_may_name_what_is_listed(api: Client) -> None:
    """Who may list one object by its name selects it by that name, and sees no other."""
    for name in ("mine", "other"):
        api.create("configmaps", a_config(name))
    _allow(api, ["list"], ["configmaps"], resourceNames=["mine"])
    where = api.at("configmaps")
    api.eventually(lambda: _as_stranger(api, "GET", f"{where}?fieldSelector=metadata.name%3Dmine").status == 200)
    _as_stranger(api, "GET", f"{where}?fieldSelector=metadata.name%3Dother").refused(403, "Forbidden")
    _as_stranger(api, "GET", where).refused(403, "Forbidden")


def case_subresource_is_a_right_of_its_own(api: Client) -> None:
    """The right to patch pods is not the right to patch their status, nor the reverse."""
    make_pod(api, "one")
    _allow(api, ["patch"], ["pods/status"])
    patch = {"status": {"message": "hello"}}
    api.eventually(lambda: _as_stranger(api, "PATCH", api.at("pods", "one", "status"), patch).status == 200)
    status = _as_stranger(api, "PATCH", api.at("pods", "one"), {"metadata": {"labels": {"a": "b"}}})
    assert 'cannot patch resource "pods"' in status.refused(403, "Forbidden")["message"]


def case_cluster_binding_allows_everywhere(api: Client) -> None:
    """A cluster binding allows cluster-scoped kinds and every namespace."""
    node = api.name("node")
    api.create("nodes", a_node(node))
    _allow_everywhere(api, ["get", "list"], ["nodes", "configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("nodes", node)).status == 200)
    _as_stranger(api, "GET", api.everywhere("configmaps")).ok()
    _as_stranger(api, "DELETE", api.at("nodes", node)).refused(403, "Forbidden")


def case_watch_is_a_verb(api: Client) -> None:
    """Listing is not watching: a watch without the right is refused at once."""
    _allow(api, ["list"], ["configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps")).status == 200)
    status = _as_stranger(api, "GET", api.at("configmaps") + "?watch=true").refused(403, "Forbidden")
    assert 'cannot watch resource "configmaps"' in status["message"]


def case_taken_rights_are_gone(api: Client) -> None:
    """Deleting the binding takes the right away."""
    _allow(api, ["list"], ["configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps")).status == 200)
    api.delete(api.at("rolebindings", "some")).ok()
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps")).status == 403)


def case_anybody_may_ask_about_oneself(api: Client) -> None:
    """A SelfSubjectAccessReview tells whether the asker may do something."""
    _allow(api, ["list"], ["configmaps"])
    api.eventually(lambda: _as_stranger(api, "GET", api.at("configmaps")).status == 200)

    def may(verb: str) -> bool:
        attributes = {"namespace": api.namespace, "verb": verb, "resource": "configmaps"}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        reply = _as_stranger(api, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
        allowed = reply.ok(201)["status"]["allowed"]
        assert isinstance(allowed, bool)
        return allowed

    assert may("list")
    assert not may("delete")
