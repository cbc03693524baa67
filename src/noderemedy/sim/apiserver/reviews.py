"""Reviews: questions that are posted and answered, never stored. And who may do what.

Without an authorizer everybody may do everything. A program sets `server.authorizer` to a function of an Access;
`rbac.py` has one that follows the stored roles and bindings.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.types import ResourceType, Tree, User


class Access(Struct, frozen=True):
    """What somebody wants to do: a verb on a resource, or on a path that is none."""

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


Authorizer = Callable[[Access], bool]


def refusal(access: Access, resource: ResourceType) -> ApiError:
    """403, in the words of a real server."""
    what = access.resource + (f"/{access.subresource}" if access.subresource else "")
    where = f'in the namespace "{access.namespace}"' if access.namespace else "at the cluster scope"
    why = f'User "{access.user.name}" cannot {access.verb} resource "{what}" in API group "{access.group}" {where}'
    return errors.forbidden(resource, access.name, why)


def answer_review(tree: Tree, user: User, may: Authorizer) -> Tree:
    """The review with its status filled in."""
    kind, spec = tree["kind"], tree.get("spec") or {}
    meta = {**(tree.get("metadata") or {}), "creationTimestamp": None}
    if kind == "SelfSubjectReview":
        status: Tree = {"userInfo": {"username": user.name, "groups": list(user.groups)}}
    elif kind == "SelfSubjectAccessReview":
        status = _judged(_access(spec, user), may)
    elif kind == "SubjectAccessReview":
        status = _judged(_access(spec, User(spec.get("user", ""), tuple(spec.get("groups") or ()))), may)
    elif kind == "SelfSubjectRulesReview":
        everything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
        status = {"resourceRules": [everything], "nonResourceRules": [], "incomplete": True}
    else:
        status = {"authenticated": False, "error": "the simulated server authenticates nobody"}
    return {**tree, "metadata": meta, "status": status}


def _judged(access: Access, may: Authorizer) -> Tree:
    return {"allowed": True, "reason": "simulated"} if may(access) else {"allowed": False}


def _access(spec: Tree, user: User) -> Access:
    asked = spec.get("resourceAttributes") or {}
    if not asked:
        other = spec.get("nonResourceAttributes") or {}
        return Access(user, other.get("verb", ""), path=other.get("path", "/"))
    return Access(
        user,
        asked.get("verb", ""),
        asked.get("group", ""),
        asked.get("resource", ""),
        asked.get("subresource", ""),
        asked.get("namespace", ""),
        asked.get("name", ""),
    )
