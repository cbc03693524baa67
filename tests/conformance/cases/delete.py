"""Deleting objects, at once, with grace, in bulk, and only if they are the ones meant."""

from __future__ import annotations

from tests.conformance.client import Client, Json
from tests.conformance.objects import a_config, a_lease, make_pod, make_widget, names_of


def _preconditions(**values: str) -> Json:
    return {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": values}


def case_delete_removes(api: Client) -> None:
    """A deleted object is gone; the answer is a Success with its uid."""
    made = api.create("configmaps", a_config("one"))
    status = api.delete(api.at("configmaps", "one")).ok()
    assert ("Status", "Success") == (status["kind"], status["status"])
    assert {"name": "one", "kind": "configmaps", "uid": made["metadata"]["uid"]} == status["details"]
    api.get(api.at("configmaps", "one")).refused(404, "NotFound")


def case_delete_of_a_missing_object(api: Client) -> None:
    """Deleting what does not exist is 404."""
    api.delete(api.at("configmaps", "none")).refused(404, "NotFound")


def case_custom_delete_names_the_group(api: Client) -> None:
    """The answer to deleting a custom object names its group."""
    made = make_widget(api, "one")
    status = api.delete(api.at("widgets", "one")).ok()
    assert made["apiVersion"].partition("/")[0] == status["details"]["group"]
    assert made["metadata"]["uid"] == status["details"]["uid"]


def case_wrong_uid_is_refused(api: Client) -> None:
    """A delete meant for another uid is a conflict, and the object stays."""
    made = api.create("configmaps", a_config("one"))
    options = _preconditions(uid="11111111-1111-1111-1111-111111111111")
    status = api.delete(api.at("configmaps", "one"), options).refused(409, "Conflict")
    assert f"does not match the UID in record ({made['metadata']['uid']})" in status["message"]
    assert made == api.read("configmaps", "one")


def case_right_uid_is_accepted(api: Client) -> None:
    """A delete meant for this uid goes through."""
    made = api.create("configmaps", a_config("one"))
    api.delete(api.at("configmaps", "one"), _preconditions(uid=made["metadata"]["uid"])).ok()
    assert api.gone(api.at("configmaps", "one"))


def case_stale_version_is_refused(api: Client) -> None:
    """A delete that names an old resourceVersion is a conflict, and the object stays."""
    made = api.create("configmaps", a_config("one"))
    newer = api.patch(api.at("configmaps", "one"), {"data": {"k": "new"}}).ok()
    options = _preconditions(resourceVersion=made["metadata"]["resourceVersion"])
    status = api.delete(api.at("configmaps", "one"), options).refused(409, "Conflict")
    assert "does not match the ResourceVersion in record" in status["message"]
    assert newer == api.read("configmaps", "one")
    api.delete(api.at("configmaps", "one"), _preconditions(resourceVersion=newer["metadata"]["resourceVersion"])).ok()


def case_recreated_object_is_another(api: Client) -> None:
    """The same name created again has another uid."""
    first = api.create("configmaps", a_config("one"))
    api.delete(api.at("configmaps", "one")).ok()
    second = api.create("configmaps", a_config("one"))
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def case_bound_pod_is_given_grace(api: Client) -> None:
    """A bound pod stays with a deletion time until its kubelet confirms."""
    make_pod(api, "one", node="here")
    pod = api.delete(api.at("pods", "one")).ok()
    assert ("Pod", 30) == (pod["kind"], pod["metadata"]["deletionGracePeriodSeconds"])
    assert pod["metadata"]["deletionTimestamp"]
    assert pod == api.read("pods", "one")


def case_grace_of_zero_removes_at_once(api: Client) -> None:
    """A grace period of zero removes a bound pod at once, also one that is already going."""
    make_pod(api, "one", node="here")
    api.delete(api.at("pods", "one")).ok()
    api.delete(api.at("pods", "one"), {"gracePeriodSeconds": 0}).ok()
    assert api.gone(api.at("pods", "one"))


def case_grace_can_be_asked_for_in_the_query(api: Client) -> None:
    """The grace period may stand in the query."""
    make_pod(api, "one", node="here")
    pod = api.delete(api.at("pods", "one"), gracePeriodSeconds="7").ok()
    assert 7 == pod["metadata"]["deletionGracePeriodSeconds"]


def case_grace_can_only_become_shorter(api: Client) -> None:
    """A later delete shortens the grace and never lengthens it."""
    make_pod(api, "one", node="here")
    api.delete(api.at("pods", "one"), {"gracePeriodSeconds": 20}).ok()
    api.delete(api.at("pods", "one"), {"gracePeriodSeconds": 60}).ok()
    assert 20 == api.read("pods", "one")["metadata"]["deletionGracePeriodSeconds"]
    api.delete(api.at("pods", "one"), {"gracePeriodSeconds": 5}).ok()
    assert 5 == api.read("pods", "one")["metadata"]["deletionGracePeriodSeconds"]


def case_unbound_pod_goes_at_once(api: Client) -> None:
    """A pod that no kubelet knows is removed at once."""
    make_pod(api, "one")
    api.delete(api.at("pods", "one")).ok()
    assert api.gone(api.at("pods", "one"))


def case_finished_pod_goes_at_once(api: Client) -> None:
    """A pod that has ended is removed at once even when bound."""
    make_pod(api, "one", node="here")
    api.patch(api.at("pods", "one", "status"), {"status": {"phase": "Failed"}}).ok()
    api.delete(api.at("pods", "one")).ok()
    assert api.gone(api.at("pods", "one"))


def case_collection_is_deleted_by_selector(api: Client) -> None:
    """Deleting a collection removes what the selector chooses and answers the list of it."""
    for name in ("a", "b", "c"):
        api.create("leases", a_lease(name, labels={"go": "no" if name == "b" else "yes"}))
    listing = api.delete(api.at("leases"), labelSelector="go=yes").ok()
    assert ("LeaseList", ["a", "c"]) == (listing["kind"], names_of(listing))
    assert ["b"] == names_of(api.get(api.at("leases")).ok())
