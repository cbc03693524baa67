"""Evicting pods under disruption budgets, and binding pods to nodes."""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver import errors, kinds
from noderemedy.sim.apiserver.budgets import Budgets, is_ready
from noderemedy.sim.apiserver.deletion import Deletion, Deletions
from noderemedy.sim.apiserver.options import Options
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.selectors import matches_selector
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Key, Tree
from noderemedy.sim.apiserver.writes import Writes


class Evictions:
    """Evicts a pod if its budget allows it, and uses the budget up."""

    def __init__(
        self, store: Store, budgets: Budgets, resources: Resources, writes: Writes, deletions: Deletions
    ) -> None:
        self.store = store
        self.budgets = budgets
        self.resources = resources
        self.writes = writes
        self.deletions = deletions

    def evict(self, key: Key, asked: Deletion, options: Options) -> None:
        """Delete the pod as an eviction, or refuse with 429."""
        resource = self.resources.of(kinds.POD)
        pod = self.store.collection(kinds.POD).objects.get(key)
        if pod is None:
            raise errors.not_found(resource, key[1])
        self.writes.admission.check("create/eviction", resource, pod, None, options.user)
        self.deletions.check_preconditions(resource, pod, asked)
        if not self.is_beyond_budgets(pod):
            budgets = self.budgets_of(pod)
            if len(budgets) > 1:
                message = (
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
                )
                raise errors.ApiError(500, "InternalError", message)
            if budgets:
                self.spend(budgets[0], pod, options)
        self.deletions.delete(resource, key, asked, options)

    def is_beyond_budgets(self, pod: Tree) -> bool:
        """Pods that have ended, are leaving or have not begun cost no budget."""
        phase = (pod.get("status") or {}).get("phase")
        return phase in ("Succeeded", "Failed", "Pending") or "deletionTimestamp" in pod["metadata"]

    def budgets_of(self, pod: Tree) -> list[Tree]:
        namespace, labels = pod["metadata"]["namespace"], pod["metadata"].get("labels") or {}
        collection = self.store.collection(kinds.BUDGET)
        found = [collection.objects[key] for key in collection.sorted_keys() if key[0] == namespace]
        return [budget for budget in found if matches_selector(budget["spec"].get("selector"), labels)]

    def spend(self, budget: Tree, pod: Tree, options: Options) -> None:
        """Take one disruption from the budget, or refuse if none is left."""
        status, meta = budget.get("status") or {}, budget["metadata"]
        if status.get("observedGeneration", 0) < meta.get("generation", 0):
            why = f"The disruption budget {meta['name']} is still being processed by the server."
            cause = errors.Cause("DisruptionBudget", why)
            message = "Cannot evict pod as it would violate the pod's disruption budget."
            raise errors.too_many_requests(message, [cause], retry_after=10)
        healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        if not is_ready(pod) and self._may_evict_unhealthy(budget, healthy >= desired > 0):
            return
        self.check_budget(budget)
        allowed = status.get("disruptionsAllowed", 0)
        disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: self.writes.stamps.now()}
        new = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
        if not options.dry_run:
            self.budgets.write_status(budget, new)

    def _may_evict_unhealthy(self, budget: Tree, is_healthy_enough: bool) -> bool:
        return is_healthy_enough or budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow"

    def check_budget(self, budget: Tree) -> None:
        """The one question of a disruption budget."""
        status = budget.get("status") or {}
        if status.get("disruptionsAllowed", 0) > 0:
            return
        healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
        name = budget["metadata"]["name"]
        why = f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        raise errors.too_many_requests(message, [errors.Cause("DisruptionBudget", why)])

    def bind(self, key: Key, body: Any, options: Options) -> None:
        """Give a pod its node, once."""
        resource = self.resources.of(kinds.POD)
        pod = self.store.collection(kinds.POD).objects.get(key)
        if pod is None:
            raise errors.not_found(resource, key[1])
        target = (body.get("target") or {}).get("name", "")
        uid = (body.get("metadata") or {}).get("uid")
        if uid and uid != pod["metadata"]["uid"]:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {pod['metadata']['uid']}"
            raise errors.conflict(resource, key[1], why)
        spec = pod.get("spec") or {}
        if spec.get("nodeName"):
            raise errors.conflict(resource, key[1], f'pod {key[1]} is already assigned to node "{spec["nodeName"]}"')
        if "deletionTimestamp" in pod["metadata"]:
            raise errors.conflict(resource, key[1], f"pod {key[1]} is being deleted, cannot be assigned to a host")
        self.writes.admission.check("create/binding", resource, pod, body, options.user)
        self._assign(resource, key, pod, target, options)

    def _assign(self, resource: Any, key: Key, pod: Tree, target: str, options: Options) -> None:
        conditions = [one for one in (pod.get("status") or {}).get("conditions") or [] if one["type"] != "PodScheduled"]
        scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": self.writes.stamps.now()}
        status = {**(pod.get("status") or {}), "conditions": [*conditions, scheduled]}
        new = {**pod, "spec": {**pod["spec"], "nodeName": target}, "status": status}
        self.writes.commit(resource, key, pod, new, options)
