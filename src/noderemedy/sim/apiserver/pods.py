"""What a server does to pods, and to the pod templates of workloads, beyond what every object gets.

Defaults that decisions depend on (grace period, tolerations of 300 seconds, restart policy) and the rule that a pod's
spec hardly changes once it exists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from noderemedy.sim.apiserver.errors import Cause, field_forbidden, invalid_value, not_supported, required
from noderemedy.sim.apiserver.types import Tree

POD_DEFAULTS: Tree = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
CONTAINER_DEFAULTS: Tree = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}
ADMITTED: Tree = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}
TAINT_PATIENCE_SECONDS = 300
PATIENT_WITH = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def filled(given: Tree, defaults: Tree) -> Tree:
    """The object with defaults where it says nothing; the very same object if nothing is missing."""
    if defaults.keys() <= given.keys():
        return given
    return {**given, **{key: value for key, value in defaults.items() if key not in given}}


def each(items: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    """The list with every element changed; the very same list if no element was."""
    found = [change(one) for one in items]
    return items if all(new is old for new, old in zip(found, items, strict=True)) else found


def with_field(tree: Tree, key: str, value: Any) -> Tree:
    return tree if tree.get(key) is value else {**tree, key: value}


def default_pod_spec(spec: Tree) -> Tree:
    """The defaults that a pod template gets too."""
    found = filled(spec, POD_DEFAULTS)
    for key in ("containers", "initContainers"):
        if isinstance(found.get(key), list):
            found = with_field(found, key, each(found[key], _default_container))
    return found


def _default_container(container: Tree) -> Tree:
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    policy = "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"
    found = filled(container, {**CONTAINER_DEFAULTS, "imagePullPolicy": policy})
    if isinstance(found.get("ports"), list):
        return with_field(found, "ports", each(found["ports"], lambda port: filled(port, {"protocol": "TCP"})))
    return found


def default_pod(tree: Tree) -> Tree:
    return with_field(tree, "spec", default_pod_spec(filled(tree.get("spec") or {}, {"enableServiceLinks": True})))


def prepare_pod(tree: Tree) -> Tree:
    """A new pod: the tolerations and the priority that admission adds, and a status that is the server's own."""
    spec = {**ADMITTED, **(tree.get("spec") or {})}
    spec["tolerations"] = _patient(spec.get("tolerations") or [])
    status = {"phase": "Pending", "qosClass": quality(spec)}
    return {**tree, "spec": spec, "status": status}


def _patient(tolerations: list[Tree]) -> list[Tree]:
    """Without a word of its own a pod stays five minutes on a node that is not ready."""
    added = [
        {
            "key": key,
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": TAINT_PATIENCE_SECONDS,
        }
        for key in PATIENT_WITH
        if not any(_tolerates(one, key) for one in tolerations)
    ]
    return [*tolerations, *added]


def _tolerates(toleration: Tree, key: str) -> bool:
    return bool(toleration.get("key", key) == key and toleration.get("effect", "NoExecute") == "NoExecute")


def quality(spec: Tree) -> str:
    """Guaranteed, Burstable or BestEffort, from requests and limits."""
    containers = [one.get("resources") or {} for one in spec.get("containers") or [] if isinstance(one, dict)]
    if not any(one.get("requests") or one.get("limits") for one in containers):
        return "BestEffort"
    for one in containers:
        limits = one.get("limits") or {}
        if not {"cpu", "memory"} <= set(limits) or (one.get("requests") or limits) != limits:
            return "Burstable"
    return "Guaranteed"


def pod_causes(new: Tree, old: Tree | None) -> list[Cause]:
    if old is not None:
        return _change_causes(new.get("spec") or {}, old.get("spec") or {})
    return spec_causes(new.get("spec") or {}, "spec")


def spec_causes(spec: Tree, where: str) -> list[Cause]:
    """What is wrong with the containers and policies of a pod."""
    causes: list[Cause] = []
    if not spec.get("containers"):
        causes.append(required(f"{where}.containers"))
    seen: set[str] = set()
    for index, one in enumerate(spec.get("containers") or []):
        place = f"{where}.containers[{index}]"
        name = one.get("name")
        if not name:
            causes.append(required(f"{place}.name"))
        elif name in seen:
            causes.append(Cause("FieldValueDuplicate", f'Duplicate value: "{name}"', f"{place}.name"))
        seen.add(name or "")
        if not one.get("image"):
            causes.append(required(f"{place}.image"))
    policies = ("Always", "OnFailure", "Never")
    if spec.get("restartPolicy", "Always") not in policies:
        causes.append(not_supported(f"{where}.restartPolicy", spec["restartPolicy"], policies))
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        why = "must be greater than or equal to 0"
        causes.append(
            invalid_value(f"{where}.terminationGracePeriodSeconds", spec["terminationGracePeriodSeconds"], why)
        )
    return causes


def _change_causes(new: Tree, old: Tree) -> list[Cause]:
    if new is old:
        return []
    if _fixed(new) != _fixed(old):
        why = (
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
            "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
            "previously negative)"
        )
        return [field_forbidden("spec", why)]
    missing = [one for one in old.get("tolerations") or [] if one not in (new.get("tolerations") or [])]
    if missing:
        return [
            field_forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
        ]
    return []


def _fixed(spec: Tree) -> Any:
    """The part of a spec that never changes."""
    loose = ("tolerations", "activeDeadlineSeconds", "schedulingGates")
    found = {key: value for key, value in spec.items() if key not in loose}
    for key in ("containers", "initContainers"):
        if key in found:
            found[key] = [{name: v for name, v in one.items() if name != "image"} for one in found[key]]
    return found
