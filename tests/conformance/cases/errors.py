"""Refusals: who is not let in, and what is not understood."""

from __future__ import annotations

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, causes_of


def case_no_token_is_anonymous_or_unauthorized(api: Client) -> None:
    """Nothing is read without a token."""
    reply = api.call("GET", api.at("configmaps"), token="")
    assert reply.status in (401, 403)
    assert "Status" == reply.json["kind"]


def case_unknown_token_is_unauthorized(api: Client) -> None:
    """An unknown token is refused."""
    status = api.call("GET", api.at("configmaps"), token="nobody-knows-me").refused(401, "Unauthorized")
    assert "Unauthorized" == status["message"]


def case_unknown_resource_is_not_found(api: Client) -> None:
    """A resource that a group does not have is 404."""
    assert 404 == api.get("/api/v1/nothings").status
    assert 404 == api.get(f"/api/v1/namespaces/{api.namespace}/nothings/one").status


def case_unknown_subresource_is_not_found(api: Client) -> None:
    """A subresource that a kind does not have is 404."""
    api.create("configmaps", a_config("one"))
    assert 404 == api.get(api.at("configmaps", "one", "nothing")).status


def case_method_not_allowed(api: Client) -> None:
    """A verb that a path does not know is 405."""
    api.create("configmaps", a_config("one"))
    assert 405 == api.post(api.at("configmaps", "one"), a_config("one")).status
    assert 405 == api.put(api.at("configmaps"), a_config("one")).status


def case_body_must_be_json(api: Client) -> None:
    """A body that cannot be read is a bad request."""
    api.call("POST", api.at("configmaps"), b"{no json").refused(400, "BadRequest")


def case_body_must_not_be_empty(api: Client) -> None:
    """A creation without a body is a bad request."""
    assert api.call("POST", api.at("configmaps"), b"").status == 400


def case_unknown_media_type_is_refused(api: Client) -> None:
    """A body of an unknown type is refused."""
    reply = api.call("POST", api.at("configmaps"), b"<x/>", content_type="application/xml")
    reply.refused(415, "UnsupportedMediaType")


def case_unknown_patch_type_is_refused(api: Client) -> None:
    """A patch of an unknown type is refused."""
    api.create("configmaps", a_config("one"))
    reply = api.patch(api.at("configmaps", "one"), {"data": {}}, "application/json")
    reply.refused(415, "UnsupportedMediaType")


def case_unknown_accept_is_refused(api: Client) -> None:
    """An answer in an unknown type is not given."""
    api.get(api.at("configmaps"), accept="application/xml").refused(406, "NotAcceptable")


def case_wrong_json_type_is_refused(api: Client) -> None:
    """A value of another type in a built-in kind is a bad request that names the field."""
    body = {**a_lease("one"), "spec": {"leaseDurationSeconds": "long"}}
    status = api.post(api.at("leases"), body).refused(400, "BadRequest")
    assert "leaseDurationSeconds" in status["message"]


def case_built_in_validation_names_the_field(api: Client) -> None:
    """A value that a built-in kind refuses is named by its path."""
    body = {**a_lease("one"), "spec": {"leaseDurationSeconds": -1}}
    status = api.post(api.at("leases"), body).refused(422, "Invalid")
    assert [("FieldValueInvalid", "spec.leaseDurationSeconds")] == causes_of(status)
    assert 'Lease.coordination.k8s.io "one" is invalid' in status["message"]


def case_restricted_identity_is_forbidden(api: Client) -> None:
    """An identity without rights is told what it may not do."""
    reply = api.call("GET", api.at("configmaps"), token=api.site.restricted_token)
    status = reply.refused(403, "Forbidden")
    assert 'cannot list resource "configmaps" in API group "" in the namespace' in status["message"]
    assert {"kind": "configmaps"} == status["details"]


def case_too_large_object_is_refused(api: Client) -> None:
    """A body of more than three megabytes is refused."""
    body = a_config("one", {"k": "x" * 3_200_000})
    reply = api.post(api.at("configmaps"), body)
    assert "RequestEntityTooLarge" == reply.json["reason"]
    assert 413 == reply.status
