"""Listing collections, in one piece and in pages."""

from __future__ import annotations

from tests.conformance.client import GROUP, Client
from tests.conformance.objects import a_lease, make_widget, names_of


def _leases(api: Client, *names: str) -> None:
    for name in names:
        api.create("leases", a_lease(name))


def case_list_has_kind_and_version(api: Client) -> None:
    """A list says its kind and the resourceVersion at which it was taken."""
    _leases(api, "a")
    listing = api.get(api.at("leases")).ok()
    assert ("LeaseList", "coordination.k8s.io/v1") == (listing["kind"], listing["apiVersion"])
    assert listing["metadata"]["resourceVersion"].isdigit()


def case_empty_list_has_items(api: Client) -> None:
    """An empty list is an empty list, not null."""
    assert [] == api.get(api.at("leases")).ok()["items"]


def case_items_are_ordered_by_name(api: Client) -> None:
    """Items come in the order of their names, whatever the order of their creation."""
    _leases(api, "c", "a", "b")
    assert ["a", "b", "c"] == names_of(api.get(api.at("leases")).ok())


def case_items_of_builtin_kinds_do_not_repeat_their_kind(api: Client) -> None:
    """Items of a built-in list carry no kind and no apiVersion."""
    _leases(api, "a")
    item = api.get(api.at("leases")).ok()["items"][0]
    assert "kind" not in item
    assert "apiVersion" not in item


def case_items_of_custom_kinds_carry_their_kind(api: Client) -> None:
    """Items of a custom list carry kind and apiVersion."""
    make_widget(api, "a")
    listing = api.get(api.at("widgets")).ok()
    assert "WidgetList" == listing["kind"]
    item = listing["items"][0]
    assert ("Widget", f"{GROUP}/v1") == (item["kind"], item["apiVersion"])


def case_list_over_all_namespaces(api: Client) -> None:
    """The path without a namespace lists every namespace."""
    other = api.name("case-other")
    api.create("namespaces", {"metadata": {"name": other}})
    _leases(api, "a")
    api.post(api.at("leases", namespace=other), a_lease("a")).ok(201)
    places = [item["metadata"]["namespace"] for item in api.get(api.everywhere("leases")).ok()["items"]]
    assert {other, api.namespace} <= set(places)
    assert sorted(places) == places


def case_list_of_an_unknown_namespace_is_empty(api: Client) -> None:
    """Listing in a namespace that does not exist is no error."""
    assert [] == api.get(api.at("leases", namespace=api.name("missing"))).ok()["items"]


def case_pages_cover_the_list(api: Client) -> None:
    """Pages of two give all five objects once, in order; the last page has no token."""
    _leases(api, "a", "b", "c", "d", "e")
    first = api.get(api.at("leases"), limit="2").ok()
    second = api.get(api.at("leases"), limit="2", **{"continue": first["metadata"]["continue"]}).ok()
    third = api.get(api.at("leases"), limit="2", **{"continue": second["metadata"]["continue"]}).ok()
    assert [["a", "b"], ["c", "d"], ["e"]] == [names_of(page) for page in (first, second, third)]
    assert "" == third["metadata"].get("continue", "")


def case_pages_tell_how_many_remain(api: Client) -> None:
    """remainingItemCount says how many come after this page."""
    _leases(api, "a", "b", "c", "d", "e")
    first = api.get(api.at("leases"), limit="2").ok()
    assert 3 == first["metadata"]["remainingItemCount"]
    second = api.get(api.at("leases"), limit="4", **{"continue": first["metadata"]["continue"]}).ok()
    assert "remainingItemCount" not in second["metadata"]


def case_pages_are_one_snapshot(api: Client) -> None:
    """What is created or deleted between two pages does not show in the second."""
    _leases(api, "a", "b", "d")
    first = api.get(api.at("leases"), limit="2").ok()
    _leases(api, "c")
    api.delete(api.at("leases", "d")).ok()
    second = api.get(api.at("leases"), limit="2", **{"continue": first["metadata"]["continue"]}).ok()
    assert ["d"] == names_of(second)
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


def case_a_page_that_holds_everything_has_no_token(api: Client) -> None:
    """A limit that is not reached gives an ordinary list."""
    _leases(api, "a", "b")
    listing = api.get(api.at("leases"), limit="2").ok()
    assert "continue" not in listing["metadata"]
    assert ["a", "b"] == names_of(listing)


def case_bad_token_is_refused(api: Client) -> None:
    """A continue token that the server did not make is a bad request."""
    api.get(api.at("leases"), limit="2", **{"continue": "nonsense"}).refused(400, "BadRequest")


def case_token_with_resource_version_is_refused(api: Client) -> None:
    """A continue token and a resourceVersion exclude each other."""
    _leases(api, "a", "b", "c")
    first = api.get(api.at("leases"), limit="2").ok()
    version = first["metadata"]["resourceVersion"]
    token = first["metadata"]["continue"]
    api.get(api.at("leases"), limit="2", resourceVersion=version, **{"continue": token}).refused(400, "BadRequest")


def case_exact_version_lists_the_past(api: Client) -> None:
    """resourceVersionMatch=Exact lists the collection as it was then."""
    _leases(api, "a")
    then = api.get(api.at("leases")).ok()["metadata"]["resourceVersion"]
    _leases(api, "b")
    past = api.get(api.at("leases"), resourceVersion=then, resourceVersionMatch="Exact").ok()
    assert ["a"] == names_of(past)
    assert then == past["metadata"]["resourceVersion"]


def case_match_without_version_is_refused(api: Client) -> None:
    """resourceVersionMatch without a resourceVersion is invalid."""
    status = api.get(api.at("leases"), resourceVersionMatch="Exact").refused(422, "Invalid")
    assert "resourceVersionMatch" == status["details"]["causes"][0]["field"]


def case_version_of_the_future_is_refused(api: Client) -> None:
    """A resourceVersion that is far ahead is refused with a hint to retry."""
    api.create("leases", a_lease("a"))
    status = api.get(api.at("leases"), resourceVersion="999999999999").refused(504, "Timeout")
    assert "Too large resource version" in status["message"]
    assert "ResourceVersionTooLarge" == status["details"]["causes"][0]["reason"]
