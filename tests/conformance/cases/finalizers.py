"""Finalizers: an object that is being deleted stays until the last one is taken off."""

from __future__ import annotations

from tests.conformance.client import Client, Json
from tests.conformance.objects import a_config, causes_of, make_pod, make_widget

HOLD = "example.dev/hold"


def _held(api: Client, *finalizers: str) -> Json:
    return api.create("configmaps", a_config("one", finalizers=list(finalizers or (HOLD,))))


def _release(api: Client, plural: str = "configmaps") -> None:
    api.patch(api.at(plural, "one"), {"metadata": {"finalizers": None}})


def case_object_stays_while_held(api: Client) -> None:
    """A delete marks a held object and answers the object itself."""
    made = _held(api)
    marked = api.delete(api.at("configmaps", "one")).ok()
    assert ("ConfigMap", made["metadata"]["uid"]) == (marked["kind"], marked["metadata"]["uid"])
    assert marked["metadata"]["deletionTimestamp"]
    assert 0 == marked["metadata"]["deletionGracePeriodSeconds"]
    assert marked == api.read("configmaps", "one")
    _release(api)


def case_last_finalizer_releases(api: Client) -> None:
    """Taking off the last finalizer of a marked object removes it."""
    _held(api)
    api.delete(api.at("configmaps", "one")).ok()
    api.patch(api.at("configmaps", "one"), {"metadata": {"finalizers": None}}).ok()
    assert api.gone(api.at("configmaps", "one"))


def case_one_of_two_still_holds(api: Client) -> None:
    """One finalizer left is enough to stay."""
    _held(api, "example.dev/a", "example.dev/b")
    api.delete(api.at("configmaps", "one")).ok()
    api.patch(api.at("configmaps", "one"), {"metadata": {"finalizers": ["example.dev/b"]}}).ok()
    assert ["example.dev/b"] == api.read("configmaps", "one")["metadata"]["finalizers"]
    _release(api)


def case_unmarked_object_survives_release(api: Client) -> None:
    """Taking the finalizer off an object that nobody deleted does nothing else."""
    _held(api)
    _release(api)
    assert "finalizers" not in api.read("configmaps", "one")["metadata"]


def case_deletion_cannot_be_taken_back(api: Client) -> None:
    """A deletion time cannot be removed."""
    _held(api)
    marked = api.delete(api.at("configmaps", "one")).ok()
    api.patch(api.at("configmaps", "one"), {"metadata": {"deletionTimestamp": None}})
    after = api.read("configmaps", "one")
    assert marked["metadata"]["deletionTimestamp"] == after["metadata"]["deletionTimestamp"]
    _release(api)


def case_no_new_finalizer_on_a_marked_object(api: Client) -> None:
    """A marked object accepts no further finalizers."""
    _held(api)
    api.delete(api.at("configmaps", "one")).ok()
    patch = {"metadata": {"finalizers": [HOLD, "example.dev/more"]}}
    status = api.patch(api.at("configmaps", "one"), patch).refused(422, "Invalid")
    assert {("FieldValueForbidden", "metadata.finalizers")} == set(causes_of(status))
    _release(api)


def case_marked_object_can_still_change(api: Client) -> None:
    """A marked object accepts other changes."""
    _held(api)
    api.delete(api.at("configmaps", "one")).ok()
    assert {"k": "new"} == api.patch(api.at("configmaps", "one"), {"data": {"k": "new"}}).ok()["data"]
    _release(api)


def case_second_delete_changes_nothing(api: Client) -> None:
    """Deleting a marked object again keeps its deletion time."""
    _held(api)
    first = api.delete(api.at("configmaps", "one")).ok()
    api.delete(api.at("configmaps", "one")).ok()
    second = api.read("configmaps", "one")
    assert first["metadata"]["deletionTimestamp"] == second["metadata"]["deletionTimestamp"]
    _release(api)


def case_name_is_taken_while_held(api: Client) -> None:
    """A marked object keeps its name from being used again."""
    _held(api)
    api.delete(api.at("configmaps", "one")).ok()
    api.post(api.at("configmaps"), a_config("one")).refused(409, "AlreadyExists")
    _release(api)


def case_marking_raises_the_generation(api: Client) -> None:
    """Marking a custom object for deletion raises its generation."""
    make_widget(api, "one", {"finalizers": [HOLD]})
    assert 2 == api.delete(api.at("widgets", "one")).ok()["metadata"]["generation"]
    _release(api, "widgets")


def case_finalizer_needs_a_domain(api: Client) -> None:
    """A finalizer of a built-in kind must be qualified by a domain."""
    status = api.post(api.at("configmaps"), a_config("one", finalizers=["bare"])).refused(422, "Invalid")
    assert "metadata.finalizers" in status["details"]["causes"][0]["field"]


def case_held_pod_outlives_its_grace(api: Client) -> None:
    """A pod with a finalizer stays even when deleted without grace."""
    make_pod(api, "one", node="here", finalizers=[HOLD])
    api.delete(api.at("pods", "one"), {"gracePeriodSeconds": 0}).ok()
    assert [HOLD] == api.read("pods", "one")["metadata"]["finalizers"]
    _release(api, "pods")
    api.eventually(lambda: api.gone(api.at("pods", "one")))


def case_deletion_event_shows_the_last_stored_state(api: Client) -> None:
    """Watchers of a released object see it as it was stored last, with the finalizer that held it."""
    _held(api)
    marked = api.delete(api.at("configmaps", "one")).ok()
    version = marked["metadata"]["resourceVersion"]
    stream = api.watch(api.at("configmaps"), resourceVersion=version, fieldSelector="metadata.name=one")
    patch = {"metadata": {"finalizers": None, "labels": {"late": "yes"}}}
    after = api.patch(api.at("configmaps", "one"), patch).ok()
    assert {"late": "yes"} == after["metadata"]["labels"]
    event = stream.next()
    assert "DELETED" == event["type"]
    assert [HOLD] == event["object"]["metadata"]["finalizers"]
    assert "labels" not in event["object"]["metadata"]
