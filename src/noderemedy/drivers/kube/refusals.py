"""What to tell a person when the API server refuses a list or a watch: what is refused, and what to do. Pure."""

from __future__ import annotations

import re

from noderemedy.wire.answers import status_of
from noderemedy.wire.http import Answer, Resource

LASTING = (401, 403, 404, 405)
_USER = re.compile(r'User "([^"]+)"')


def is_lasting(answer: Answer) -> bool:
    """Whether a person has to change something before it is worth asking again."""
    return answer.status in LASTING


def describe(answer: Answer, resource: Resource, namespace: str = "") -> str:
    """One sentence with the resource's name and the remedy."""
    what = full_name(resource)
    where = f" in namespace {namespace}" if namespace else ""
    if answer.status == 401:
        return f"cannot watch {what}{where}: our credentials are not accepted; renew the token or certificate"
    if answer.status == 403:
        found = _USER.search(status_of(answer).message)
        who = found.group(1) if found else "the identity we run as"
        return f"cannot watch {what}{where}: forbidden; grant list,watch on {what} to {who}"
    if answer.status in (404, 405):
        if not resource.kind.group:
            return f"cannot watch {what}{where}: not served; check that this is a Kubernetes API server"
        return f"cannot watch {what}{where}: not served as {resource.api_version}; install its CRD, if it is wanted"
    said = status_of(answer).message
    answered = f"the API server answered {answer.status}{': ' + said if said else ''}"
    return f"cannot watch {what}{where}: {answered}; look at its log, or try again later"


def full_name(resource: Resource) -> str:
    """As in RBAC rules and `kubectl get`: baremetalhosts.metal3.io."""
    return f"{resource.plural}.{resource.kind.group}" if resource.kind.group else resource.plural
