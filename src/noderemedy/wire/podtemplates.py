"""The pod template of a remedy, as seed 002 prints it or as a full pod spec, to one JSON text.

The seed's short words: `env: [S]` is all of Secret S as environment, `configmaps: [M]` mounts ConfigMap M, and
`secrets: [S]` mounts Secret S (SSH keys). All else is Kubernetes' own and passed on as it is; the API server judges it.

Rule 1: a remedy never runs on the node that it repairs, so it may not choose its node.
Rule 2: nothing is fetched from a URL: what runs with the rights to reboot nodes comes from an image or a ConfigMap.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from noderemedy.model.remedy import PodRemedy
from noderemedy.model.time import Span
from noderemedy.wire.fields import is_object
from noderemedy.wire.placedfields import PlacedFields

MOUNTS = "/etc/node-remedy"
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
SHORT = ("configmaps", "secrets")
DEADLINE_MAX = 24 * 3_600_000
# Our namespace admits restricted pods only (deploy/rbac/00-namespace.yaml); where nobody says otherwise, they are.
POD_SECURITY: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
# Files of a Secret are root's: whoever is not root reads them by this group.
READING: dict[str, Any] = {"fsGroup": 65532}
CONTAINER_SECURITY: dict[str, Any] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
RETRIES_MAX = 6  # more than that, and what failed is not tried again but hammered


def read_pod(fields: PlacedFields, path: str, item: dict[Any, Any]) -> PodRemedy | None:
    """The pod and the limits of its Job; None if it cannot be made."""
    where = f"{path}.podTemplate"
    template = item["podTemplate"]
    spec = template.get("spec") if is_object(template) else None
    if not is_object(template) or not is_object(spec):
        fields.wrong(f"{where}.spec", spec, "write a pod spec with containers")
        return None
    fields.known(where, template, ("metadata", "spec"))
    no_urls(fields, path, item)
    known = len(fields.problems)
    made = pod_spec(fields, f"{where}.spec", spec)
    metadata = template.get("metadata") or {}
    if not is_object(metadata):
        fields.wrong(f"{where}.metadata", metadata, "write an object with labels and annotations")
        metadata = {}
    limits = {**read_limits(fields, path, item), **grace(spec)}
    if len(fields.problems) > known:
        return None
    kept = {key: metadata[key] for key in ("labels", "annotations") if is_object(metadata.get(key))}
    return PodRemedy(msgspec.json.encode({"metadata": kept, "spec": made}).decode(), **limits)


def read_limits(fields: PlacedFields, path: str, item: dict[Any, Any]) -> dict[str, Any]:
    """How long the Job may take, how often its pod is tried again, and how long its logs are kept."""
    found: dict[str, Any] = {}
    for name, field in (("deadline", "deadline"), ("ttl", "kept")):
        if item.get(name) is not None and (span := fields.duration(f"{path}.{name}", item[name])) is not None:
            if not 1_000 <= span.ms <= DEADLINE_MAX * (1 if name == "deadline" else 30):
                fields.wrong(f"{path}.{name}", item[name], "write at least 1s and at most a day (ttl: a month)")
            found[field] = Span(span.ms)
    if item.get("retries") is not None:
        retries = fields.whole(f"{path}.retries", item["retries"], f"write a number from 0 to {RETRIES_MAX}")
        if isinstance(retries, int):
            if retries > RETRIES_MAX:
                fields.wrong(f"{path}.retries", retries, f"write a number from 0 to {RETRIES_MAX}")
            found["retries"] = retries
    return found


def grace(spec: dict[Any, Any]) -> dict[str, Span]:
    """How long the pod may take to end, if its author says so; what is no number the API server refuses."""
    told = spec.get("terminationGracePeriodSeconds")
    return {"grace": Span(told * 1_000)} if isinstance(told, int) and 0 <= told * 1_000 <= DEADLINE_MAX else {}


def no_urls(fields: PlacedFields, path: str, tree: Any) -> None:
    """Playbooks from a URL are refused, wherever somebody wrote one."""
    items = tree.items() if is_object(tree) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        where = f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}"
        if isinstance(key, str) and key.lower().startswith("playbook"):
            fields.say(where, "playbooks are not fetched; put them into the image, or into a ConfigMap of configmaps")
        no_urls(fields, where, value)


def pod_spec(fields: PlacedFields, path: str, spec: dict[Any, Any]) -> dict[str, Any]:
    if spec.get("restartPolicy", "Never") != "Never":
        fields.wrong(f"{path}.restartPolicy", spec["restartPolicy"], "write Never: retries of the remedy say how often")
    for name in ("nodeName", "activeDeadlineSeconds"):
        if name in spec:
            remedy = "deadline of the remedy" if name != "nodeName" else "nodeSelector: a remedy runs on another node"
            fields.say(f"{path}.{name}", f"may not be set here; use {remedy}")
    volumes: dict[str, dict[str, Any]] = {}
    made: dict[str, Any] = {**spec, "restartPolicy": "Never"}
    group = {} if may_be_root(spec) else READING
    made["securityContext"] = {**POD_SECURITY, **group, **own_security(fields, path, spec)}
    if isinstance(account := made.pop("serviceAccount", None), str):
        made["serviceAccountName"] = account
    for kind in ("initContainers", "containers"):
        if kind in spec or kind == "containers":
            items = fields.objects(f"{path}.{kind}", spec.get(kind))
            made[kind] = [container(fields, where, item, volumes) for where, item in items]
    if not made["containers"]:
        fields.wrong(f"{path}.containers", spec.get("containers"), "write at least one container")
    own = spec.get("volumes")
    made["volumes"] = [*(own if isinstance(own, list) else []), *volumes.values()]
    for volume in volumes.values():
        if "secret" in volume:
            volume["secret"]["defaultMode"] = 0o400 if may_be_root(spec) else 0o440
    return made


def may_be_root(spec: dict[Any, Any]) -> bool:
    """Whether a container runs as root, or may: ssh refuses a key of its own user that a group can read."""
    lists = [spec.get(kind) for kind in ("initContainers", "containers")]
    containers = [one for some in lists if isinstance(some, list) for one in some]
    contexts = [{**context_of(spec), **context_of(one)} for one in containers]
    return any(one.get("runAsUser", 0 if one.get("runAsNonRoot") is False else None) == 0 for one in contexts)


def context_of(item: Any) -> dict[Any, Any]:
    """What its author says of its security; nothing where that is no object."""
    own = item.get("securityContext") if is_object(item) else None
    return own if is_object(own) else {}


def container(
    fields: PlacedFields, path: str, item: dict[Any, Any], volumes: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A container of Kubernetes, with the seed's short words written out."""
    for name in ("name", "image"):
        fields.word(f"{path}.{name}", item.get(name))
    made = {key: value for key, value in item.items() if key not in (*SHORT, "env")}
    made["securityContext"] = {**CONTAINER_SECURITY, **own_security(fields, path, item)}
    env = item.get("env") or []
    if not isinstance(env, list):
        fields.wrong(f"{path}.env", env, "write a list of names of Secrets, or of variables with name and value")
        env = []
    named = [one for one in env if isinstance(one, str)]
    froms = made.get("envFrom")
    made["envFrom"] = [*(froms if isinstance(froms, list) else []), *({"secretRef": {"name": one}} for one in named)]
    made["env"] = [one for one in env if is_object(one)]
    if len(made["env"]) + len(named) < len(env):
        fields.wrong(f"{path}.env", env, "write names of Secrets, or variables with name and value")
    mounts = made.get("volumeMounts")
    made["volumeMounts"] = [*(mounts if isinstance(mounts, list) else []), *mounted(fields, path, item, volumes)]
    return made


def own_security(fields: PlacedFields, path: str, item: dict[Any, Any]) -> dict[Any, Any]:
    """What its author says wins: who needs more must allow it for the namespace, too."""
    if (item.get("securityContext") or {}) != (own := context_of(item)):
        fields.wrong(f"{path}.securityContext", item["securityContext"], "write an object")
    return own


def mounted(
    fields: PlacedFields, path: str, item: dict[Any, Any], volumes: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """`configmaps` and `secrets` of a container: one volume for all containers, one mount each."""
    found = []
    for kind in SHORT:
        names = item.get(kind) or []
        if not isinstance(names, list) or not all(isinstance(one, str) and NAME.fullmatch(one) for one in names):
            fields.wrong(f"{path}.{kind}", names, "write a list of names")
            continue
        for name in names:
            volume = f"{kind}-{len(volumes)}"
            known = next((key for key, one in volumes.items() if source(one) == (kind, name)), volume)
            volumes.setdefault(known, of_volume(known, kind, name))
            found.append({"name": known, "mountPath": f"{MOUNTS}/{kind}/{name}", "readOnly": True})
    return found


def of_volume(volume: str, kind: str, name: str) -> dict[str, Any]:
    if kind == "secrets":
        return {"name": volume, "secret": {"secretName": name}}
    return {"name": volume, "configMap": {"name": name}}


def source(volume: dict[str, Any]) -> tuple[str, str]:
    if "secret" in volume:
        return "secrets", str(volume["secret"]["secretName"])
    return "configmaps", str(volume["configMap"]["name"])
