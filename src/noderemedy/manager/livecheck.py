"""Check on a live cluster: the look of a plan, and the Secrets and templates that configuration names, read by name.

Called by `node-remedy check` without -f. Only GET is ever sent, with the rights of whoever checks: what those do not
reach is said, and is no mistake of the configuration.
"""

from __future__ import annotations

from pathlib import Path

from noderemedy.core.external.kinds import template_kind
from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.config import load
from noderemedy.drivers.kube.discovery import find
from noderemedy.drivers.kube.errors import NoAnswer, NotSent
from noderemedy.manager import check, checksecrets
from noderemedy.manager.check import Finding
from noderemedy.manager.liveplan import Live, Unreachable
from noderemedy.manager.plan import Look
from noderemedy.manager.runs import SECRETS
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK, SYSTEM, Ref
from noderemedy.model.reasons import TemplateNotFound
from noderemedy.model.room import Present
from noderemedy.model.time import Wall
from noderemedy.wire import fenceanswer
from noderemedy.wire.http import Request, Resource

OK, NOT_FOUND = 200, 404


async def on_cluster(
    kubeconfig: Path | None, context: str, now: Wall, agents_path: str = "", *, has_agents: bool
) -> tuple[list[Finding], list[str], int]:
    """What is wrong, remarks, and how many objects were looked at. Raises Theirs."""
    async with KubeClient(load(kubeconfig, context)) as client:
        try:
            live = Live(client, now, agents_path)
            remarks = await live.fill()
            found = check.findings(live.look, has_agents=has_agents)
            used = checksecrets.uses(live.look)
            known = {name: told for name in {one.secret for one in used} if (told := await secret(client, name))}
            found += checksecrets.of_secrets(used, known, are_all=True)
            found += [one for at in checks(live.look) if (one := await template(client, at, live.look))]
            return sorted(set(found)), remarks, live.look.objects
        except (NotSent, NoAnswer) as problem:
            raise Unreachable(str(problem)) from None


async def secret(client: KubeClient, name: str) -> dict[str, str] | str | None:
    """Its texts by key, or why they cannot be read; None: there is none."""
    answer = await client.send(Request("GET", SECRETS.path(SYSTEM, name)), retry=True)
    if answer.status == NOT_FOUND:
        return None
    if answer.status != OK:
        return f"Secret {SYSTEM}/{name} cannot be read (the API server answered {answer.status}): it was not checked"
    try:
        return fenceanswer.secret_data(answer.body) or {"": ""}
    except fenceanswer.Unreadable:
        return f"Secret {SYSTEM}/{name} cannot be read: it was not checked"


def checks(look: Look) -> list[Ref]:
    return [at for kind in (HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK) for at in look.engine.cache.refs_of(kind)]


async def template(client: KubeClient, at: Ref, look: Look) -> Finding | None:
    """Whether the template of a check is there. That its kind is not installed is a remark of the look already."""
    entry = look.engine.cache.read(at)
    obj: HealthCheck | None = entry.obj if isinstance(entry, Present) else None
    if obj is None or not isinstance(obj.template, TemplateRef):
        return None
    wish = obj.template
    resource = await find(client, template_kind(wish), wish.api_version.rpartition("/")[2])
    if not isinstance(resource, Resource):
        return None
    answer = await client.send(Request("GET", resource.path(wish.namespace, wish.name)), retry=True)
    there = Ref("", template_kind(wish), wish.namespace, wish.name)
    return Finding(at, TemplateNotFound(str(there)).note()) if answer.status == NOT_FOUND else None
