"""Garbage collection: what owners take with them. On a real cluster the controller manager does it."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import Client, Json
from tests.conformance.objects import a_config, a_lease, make_widget

HOLD = "example.dev/hold"


def _owner_of(owner: Json, **more: Any) -> Json:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }


def _family(api: Client, **more: Any) -> tuple[Json, Json]:
    owner = api.create("configmaps", a_config("owner"))
    child = api.create("leases", a_lease("child", ownerReferences=[_owner_of(owner, **more)]))
    return owner, child


def case_background_deletion_takes_dependents(api: Client) -> None:
    """Dependents follow their owner."""
    _family(api)
    api.delete(api.at("configmaps", "owner"), {"propagationPolicy": "Background"}).ok()
    assert api.gone(api.at("configmaps", "owner"))
    api.eventually(lambda: api.gone(api.at("leases", "child")))


def case_deletion_goes_down_the_generations(api: Client) -> None:
    """Dependents of dependents follow too."""
    _, child = _family(api)
    api.create("leases", a_lease("grandchild", ownerReferences=[_owner_of(child)]))
    api.delete(api.at("configmaps", "owner")).ok()
    api.eventually(lambda: api.gone(api.at("leases", "grandchild")))


def case_orphans_stay(api: Client) -> None:
    """With Orphan the dependents stay and forget their owner."""
    _family(api)
    api.delete(api.at("configmaps", "owner"), {"propagationPolicy": "Orphan"}).ok()
    api.eventually(lambda: api.gone(api.at("configmaps", "owner")))
    assert "ownerReferences" not in api.read("leases", "child")["metadata"]


def case_foreground_deletion_waits_for_blocking_dependents(api: Client) -> None:
    """With Foreground the owner stays until a blocking dependent is gone."""
    owner = api.create("configmaps", a_config("owner"))
    reference = _owner_of(owner, blockOwnerDeletion=True)
    api.create("leases", a_lease("child", ownerReferences=[reference], finalizers=[HOLD]))
    marked = api.delete(api.at("configmaps", "owner"), {"propagationPolicy": "Foreground"}).ok()
    assert ["foregroundDeletion"] == marked["metadata"]["finalizers"]
    api.eventually(lambda: "deletionTimestamp" in api.read("leases", "child")["metadata"])
    assert marked["metadata"]["uid"] == api.read("configmaps", "owner")["metadata"]["uid"]
    api.patch(api.at("leases", "child"), {"metadata": {"finalizers": None}}).ok()
    api.eventually(lambda: api.gone(api.at("configmaps", "owner")))
    assert api.gone(api.at("leases", "child"))


def case_one_living_owner_is_enough(api: Client) -> None:
    """A dependent of two owners stays when one goes, and forgets that one."""
    first = api.create("configmaps", a_config("first"))
    second = api.create("configmaps", a_config("second"))
    api.create("leases", a_lease("child", ownerReferences=[_owner_of(first), _owner_of(second)]))
    api.delete(api.at("configmaps", "first")).ok()

    def owners() -> list[str]:
        return [owner["name"] for owner in api.read("leases", "child")["metadata"]["ownerReferences"]]

    api.eventually(lambda: owners() == ["second"])


def case_absent_owner_is_no_owner(api: Client) -> None:
    """A dependent whose owner does not exist is collected."""
    owner = api.create("configmaps", a_config("owner"))
    api.delete(api.at("configmaps", "owner")).ok()
    api.create("leases", a_lease("child", ownerReferences=[_owner_of(owner)]))
    api.eventually(lambda: api.gone(api.at("leases", "child")))


def case_owner_of_another_uid_is_no_owner(api: Client) -> None:
    """An owner that was deleted and created again does not own what the first one owned."""
    first = api.create("configmaps", a_config("owner"))
    api.delete(api.at("configmaps", "owner")).ok()
    api.create("configmaps", a_config("owner"))
    api.create("leases", a_lease("child", ownerReferences=[_owner_of(first)]))
    api.eventually(lambda: api.gone(api.at("leases", "child")))


def case_custom_owner_takes_dependents(api: Client) -> None:
    """Custom objects own like built-in ones."""
    owner = make_widget(api, "owner")
    api.create("leases", a_lease("child", ownerReferences=[_owner_of(owner, controller=True)]))
    api.delete(api.at("widgets", "owner")).ok()
    api.eventually(lambda: api.gone(api.at("leases", "child")))


def case_two_controllers_are_refused(api: Client) -> None:
    """An object has at most one controlling owner."""
    first = api.create("configmaps", a_config("first"))
    second = api.create("configmaps", a_config("second"))
    owners = [_owner_of(first, controller=True), _owner_of(second, controller=True)]
    api.post(api.at("leases"), a_lease("child", ownerReferences=owners)).refused(422, "Invalid")


def case_unknown_policy_is_refused(api: Client) -> None:
    """A propagation policy that does not exist is refused, and the object stays."""
    made = api.create("configmaps", a_config("one"))
    api.delete(api.at("configmaps", "one"), {"propagationPolicy": "Sideways"}).refused(422, "Invalid")
    assert made == api.read("configmaps", "one")


def case_namespace_takes_its_contents(api: Client) -> None:
    """Deleting a namespace removes what is in it, then the namespace."""
    name = api.name("case-doomed")
    api.create("namespaces", {"metadata": {"name": name}})
    api.post(api.at("leases", namespace=name), a_lease("one")).ok(201)
    marked = api.delete(f"/api/v1/namespaces/{name}").ok()
    assert "Terminating" == marked["status"]["phase"]
    api.eventually(lambda: api.gone(f"/api/v1/namespaces/{name}"))
    assert api.gone(api.at("leases", "one", namespace=name))


def case_nothing_is_created_in_a_dying_namespace(api: Client) -> None:
    """A namespace that is going accepts nothing new."""
    name = api.name("case-doomed")
    api.create("namespaces", {"metadata": {"name": name}})
    api.post(api.at("leases", namespace=name), a_lease("one", finalizers=[HOLD])).ok(201)
    api.delete(f"/api/v1/namespaces/{name}").ok()
    status = api.post(api.at("leases", namespace=name), a_lease("two")).refused(403, "Forbidden")
    assert f"unable to create new content in namespace {name} because it is being terminated" in status["message"]
    api.patch(api.at("leases", "one", namespace=name), {"metadata": {"finalizers": None}})
