"""Reading one object."""

from __future__ import annotations

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, make_widget


def case_read_gives_what_was_created(api: Client) -> None:
    """Reading answers exactly the object that creating answered."""
    assert api.create("leases", a_lease("one")) == api.read("leases", "one")


def case_missing_object_is_not_found(api: Client) -> None:
    """A missing object is 404 with kind and name in message and details."""
    status = api.get(api.at("configmaps", "none")).refused(404, "NotFound")
    assert 'configmaps "none" not found' == status["message"]
    assert {"name": "none", "kind": "configmaps"} == status["details"]


def case_missing_object_of_a_group_names_the_group(api: Client) -> None:
    """Outside the core group the message and the details carry the group."""
    status = api.get(api.at("leases", "none")).refused(404, "NotFound")
    assert 'leases.coordination.k8s.io "none" not found' == status["message"]
    assert {"name": "none", "group": "coordination.k8s.io", "kind": "leases"} == status["details"]


def case_missing_custom_object_names_its_group(api: Client) -> None:
    """Custom kinds are refused in the same words."""
    made = make_widget(api, "one")
    status = api.get(api.at("widgets", "none")).refused(404, "NotFound")
    group = made["apiVersion"].partition("/")[0]
    assert f'widgets.{group} "none" not found' == status["message"]


def case_other_namespaces_do_not_show(api: Client) -> None:
    """An object is not found under another namespace."""
    api.create("configmaps", a_config("one"))
    assert 404 == api.get(api.at("configmaps", "one", namespace="default")).status


def case_read_from_the_cache(api: Client) -> None:
    """resourceVersion=0 is allowed on a read and gives the object in some recent state."""
    made = api.create("configmaps", a_config("one"))
    api.eventually(lambda: api.get(api.at("configmaps", "one"), resourceVersion="0").status == 200)
    seen = api.get(api.at("configmaps", "one"), resourceVersion="0").ok()
    assert made["metadata"]["uid"] == seen["metadata"]["uid"]


def case_answers_carry_the_date(api: Client) -> None:
    """Every answer carries the server's clock and says that it is JSON."""
    reply = api.get(api.at("configmaps"))
    assert reply.headers["date"].endswith(" GMT")
    assert "application/json" == reply.headers["content-type"]
