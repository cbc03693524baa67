"""Role-based access control over the stored roles and bindings, for programs that want it enforced.

`server.enforce_roles()`: then a user may do what a real server would let them do. Members of
system:masters may do everything. Aggregated cluster roles are not put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.reviews import Access, Authorizer
from noderemedy.sim.apiserver.types import Tree, User

if TYPE_CHECKING:
    from noderemedy.sim.apiserver.server import ApiServer

GROUP = "rbac.authorization.k8s.io"
CLUSTER_ROLE, CLUSTER_BINDING = Kind(GROUP, "ClusterRole"), Kind(GROUP, "ClusterRoleBinding")
ROLE, BINDING = Kind(GROUP, "Role"), Kind(GROUP, "RoleBinding")
SELF_REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews")


def follow_roles(server: ApiServer) -> Authorizer:
    """Who may do what is what the stored roles say."""

    def may(access: Access) -> bool:
        if "system:masters" in access.user.groups or access.resource in SELF_REVIEWS:
            return True
        return any(allows(rule, access) for rule in rules_of(server, access))

    return may


def rules_of(server: ApiServer, access: Access) -> Iterator[Tree]:
    """The rules that hold for this user where the access happens."""
    for binding in server.list(CLUSTER_BINDING):
        if binds(binding, access.user):
            yield from _rules(server, binding, "")
    if access.namespace:
        for binding in server.list(BINDING, access.namespace):
            if binds(binding, access.user, access.namespace):
                yield from _rules(server, binding, access.namespace)


def _rules(server: ApiServer, binding: Tree, namespace: str) -> list[Tree]:
    reference = binding["roleRef"]
    is_local = reference["kind"] == "Role"
    found = server.find(ROLE if is_local else CLUSTER_ROLE, reference["name"], namespace if is_local else "")
    return [] if found is None else found.get("rules") or []


def binds(binding: Tree, user: User, namespace: str = "") -> bool:
    """Whether a binding is about this user, a group of theirs, or the service account that they are."""
    for subject in binding.get("subjects") or []:
        match subject["kind"]:
            case "User":
                found = subject["name"] == user.name
            case "Group":
                found = subject["name"] in user.groups
            case _:
                where = subject.get("namespace") or namespace
                found = user.name == f"system:serviceaccount:{where}:{subject['name']}"
        if found:
            return True
    return False


def allows(rule: Tree, access: Access) -> bool:
    """Whether one rule allows the access."""
    if access.path:
        return _has(rule, "nonResourceURLs", access.path) and _has(rule, "verbs", access.verb)
    names = rule.get("resourceNames") or []
    return (
        _has(rule, "verbs", access.verb)
        and _has(rule, "apiGroups", access.group)
        and _has_resource(rule, access)
        and (not names or access.name in names)
    )


def _has(rule: Tree, key: str, wanted: str) -> bool:
    known = rule.get(key) or []
    return wanted in known or "*" in known


def _has_resource(rule: Tree, access: Access) -> bool:
    if not access.subresource:
        return _has(rule, "resources", access.resource)
    return any(
        _has(rule, "resources", name) for name in (f"{access.resource}/{access.subresource}", f"*/{access.subresource}")
    )
