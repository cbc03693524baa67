"""Eviction: deleting a pod only as far as its disruption budget allows."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import Client, Json, Reply
from tests.conformance.objects import causes_of, make_pod


def _ready_pod(api: Client, name: str, **labels: str) -> Json:
    """A bound, running, ready pod."""
    make_pod(api, name, node="here", labels={"app": "db", **labels})
    conditions = [{"type": "Ready", "status": "True"}]
    status = {"status": {"phase": "Running", "conditions": conditions}}
    return api.patch(api.at("pods", name, "status"), status).ok()


def _budget(api: Client, healthy: int, allowed: int, name: str = "budget", **spec: Any) -> None:
    """A budget over app=db, known to its controller."""
    body = {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": "db"}}, **spec}}
    api.create("poddisruptionbudgets", body)

    def counted() -> bool:
        status = api.read("poddisruptionbudgets", name).get("status", {})
        return (healthy, allowed) == (status.get("currentHealthy"), status.get("disruptionsAllowed"))

    api.eventually(counted)


def _evict(api: Client, name: str, options: Json | None = None, **query: str) -> Reply:
    body: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": api.namespace}}
    if options is not None:
        body["deleteOptions"] = options
    return api.post(api.at("pods", name, "eviction"), body, **query)


def _is_going(api: Client, name: str) -> bool:
    return "deletionTimestamp" in api.read("pods", name)["metadata"]


def case_without_a_budget_the_pod_goes(api: Client) -> None:
    """A pod that no budget covers is deleted with its grace."""
    _ready_pod(api, "one")
    assert "Success" == _evict(api, "one").ok(201)["status"]
    assert _is_going(api, "one")


def case_budget_with_room_lets_one_go(api: Client) -> None:
    """A budget with room allows the eviction."""
    _ready_pod(api, "one")
    _ready_pod(api, "two")
    _budget(api, healthy=2, allowed=1, minAvailable=1)
    _evict(api, "one").ok(201)
    assert _is_going(api, "one")


def case_exhausted_budget_refuses(api: Client) -> None:
    """A budget without room answers 429 with its name, and the pod stays."""
    before = _ready_pod(api, "one")
    _budget(api, healthy=1, allowed=0, minAvailable=1)
    status = _evict(api, "one").refused(429, "TooManyRequests")
    assert "Cannot evict pod as it would violate the pod's disruption budget." == status["message"]
    assert "DisruptionBudget" == status["details"]["causes"][0]["reason"]
    assert (
        "The disruption budget budget needs 1 healthy pods and has 1 currently"
        == (status["details"]["causes"][0]["message"])
    )
    assert before == api.read("pods", "one")


def case_the_second_eviction_is_refused(api: Client) -> None:
    """An eviction uses up the room at once, before any controller counts again."""
    _ready_pod(api, "one")
    _ready_pod(api, "two")
    _budget(api, healthy=2, allowed=1, minAvailable=1)
    _evict(api, "one").ok(201)
    _evict(api, "two").refused(429, "TooManyRequests")
    assert not _is_going(api, "two")


def case_eviction_is_recorded_in_the_budget(api: Client) -> None:
    """The budget's status names the pod that was let go."""
    _ready_pod(api, "one")
    _ready_pod(api, "two")
    _budget(api, healthy=2, allowed=1, minAvailable=1)
    _evict(api, "one").ok(201)
    assert 0 == api.read("poddisruptionbudgets", "budget")["status"]["disruptionsAllowed"]


def case_two_budgets_are_refused(api: Client) -> None:
    """A pod under two budgets cannot be evicted at all."""
    _ready_pod(api, "one")
    _ready_pod(api, "two")
    _budget(api, healthy=2, allowed=1, minAvailable=1)
    _budget(api, healthy=2, allowed=1, name="second", minAvailable=1)
    reply = _evict(api, "one")
    assert 500 == reply.status
    assert "This pod has more than one PodDisruptionBudget" in reply.json["message"]
    assert not _is_going(api, "one")


def case_pending_pod_is_always_evictable(api: Client) -> None:
    """A pod that is not running yet is no loss to its budget."""
    _ready_pod(api, "one")
    make_pod(api, "two", node="here", labels={"app": "db"})
    _budget(api, healthy=1, allowed=0, minAvailable=2)
    _evict(api, "two").ok(201)
    assert _is_going(api, "two")


def case_finished_pod_is_always_evictable(api: Client) -> None:
    """A pod that has ended is deleted whatever the budget says."""
    _ready_pod(api, "one")
    _ready_pod(api, "two")
    api.patch(api.at("pods", "two", "status"), {"status": {"phase": "Succeeded", "conditions": None}}).ok()
    _budget(api, healthy=1, allowed=0, minAvailable=1)
    _evict(api, "two").ok(201)
    assert api.gone(api.at("pods", "two"))


def case_missing_pod_cannot_be_evicted(api: Client) -> None:
    """Evicting what does not exist is 404."""
    _evict(api, "none").refused(404, "NotFound")


def case_wrong_uid_is_refused(api: Client) -> None:
    """An eviction meant for another uid is a conflict."""
    _ready_pod(api, "one")
    options = {"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}}
    _evict(api, "one", options).refused(409, "Conflict")
    assert not _is_going(api, "one")


def case_grace_of_an_eviction(api: Client) -> None:
    """An eviction may name its grace period."""
    _ready_pod(api, "one")
    _evict(api, "one", {"gracePeriodSeconds": 3}).ok(201)
    assert 3 == api.read("pods", "one")["metadata"]["deletionGracePeriodSeconds"]


def case_dry_eviction_changes_nothing(api: Client) -> None:
    """A dry run of an eviction is judged but not done."""
    before = _ready_pod(api, "one")
    _evict(api, "one", {"dryRun": ["All"]}).ok(201)
    assert before == api.read("pods", "one")


def case_budget_takes_one_rule(api: Client) -> None:
    """minAvailable and maxUnavailable exclude each other."""
    spec = {"selector": {}, "minAvailable": 1, "maxUnavailable": 1}
    reply = api.post(api.at("poddisruptionbudgets"), {"metadata": {"name": "both"}, "spec": spec})
    assert [("FieldValueInvalid", "spec")] == causes_of(reply.refused(422, "Invalid"))
