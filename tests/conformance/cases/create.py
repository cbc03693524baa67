"""Creating objects: what the server fills in, and what it refuses."""

from __future__ import annotations

import re

from tests.conformance.client import Client
from tests.conformance.objects import a_config, a_lease, a_node, a_widget, causes_of, make_pod, make_widget, widgets


def case_server_fills_in_identity(api: Client) -> None:
    """A new object gets a uid, a resourceVersion, a creation time and its namespace."""
    reply = api.post(api.at("configmaps"), a_config("one"))
    made = reply.ok(201)
    metadata = made["metadata"]
    assert ("v1", "ConfigMap", {"k": "v"}) == (made["apiVersion"], made["kind"], made["data"])
    assert ("one", api.namespace) == (metadata["name"], metadata["namespace"])
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert metadata["resourceVersion"].isdigit()
    assert made == api.read("configmaps", "one")


def case_generated_name_extends_the_prefix(api: Client) -> None:
    """generateName gives a name of the prefix and five more characters, different each time."""
    body = {"metadata": {"generateName": "made-"}}
    names = [api.create("configmaps", body)["metadata"]["name"] for _ in range(3)]
    assert all(re.fullmatch(r"made-[a-z0-9]{5}", name) for name in names)
    assert 3 == len(set(names))


def case_name_is_required(api: Client) -> None:
    """An object without a name and without a prefix is invalid."""
    status = api.post(api.at("configmaps"), {"metadata": {}}).refused(422, "Invalid")
    assert [("FieldValueRequired", "metadata.name")] == causes_of(status)


def case_bad_name_is_invalid(api: Client) -> None:
    """A name that is not a DNS subdomain is refused with the field's name."""
    status = api.post(api.at("configmaps"), a_config("Not_A_Name")).refused(422, "Invalid")
    assert [("FieldValueInvalid", "metadata.name")] == causes_of(status)
    assert {"name": "Not_A_Name", "kind": "ConfigMap"} == {key: status["details"][key] for key in ("name", "kind")}


def case_existing_name_is_refused(api: Client) -> None:
    """A second object of the same name is refused, and the first stays as it was."""
    first = api.create("configmaps", a_config("one"))
    status = api.post(api.at("configmaps"), a_config("one", {"k": "other"})).refused(409, "AlreadyExists")
    assert 'configmaps "one" already exists' == status["message"]
    assert {"name": "one", "kind": "configmaps"} == status["details"]
    assert first == api.read("configmaps", "one")


def case_same_name_in_another_namespace_is_another_object(api: Client) -> None:
    """Names are unique per namespace only."""
    other = api.name("case-other")
    api.create("namespaces", {"metadata": {"name": other}})
    first = api.create("configmaps", a_config("one"))
    second = api.post(api.at("configmaps", namespace=other), a_config("one")).ok(201)
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def case_namespace_must_exist(api: Client) -> None:
    """Nothing is created in a namespace that does not exist."""
    missing = api.name("missing")
    status = api.post(api.at("configmaps", namespace=missing), a_config("one")).refused(404, "NotFound")
    assert f'namespaces "{missing}" not found' == status["message"]
    assert {"name": missing, "kind": "namespaces"} == status["details"]


def case_namespace_must_match_the_path(api: Client) -> None:
    """A body that names another namespace than the path is a bad request."""
    body = a_config("one", namespace="elsewhere")
    api.post(api.at("configmaps"), body).refused(400, "BadRequest")


def case_kind_must_match_the_path(api: Client) -> None:
    """A body of another kind than the path is a bad request."""
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"}}
    api.post(api.at("configmaps"), body).refused(400, "BadRequest")


def case_resource_version_must_not_be_set(api: Client) -> None:
    """A new object cannot claim a resourceVersion."""
    reply = api.post(api.at("configmaps"), a_config("one", resourceVersion="7"))
    assert "resourceVersion should not be set on objects to be created" in reply.json["message"]
    assert 500 == reply.status
    assert 404 == api.get(api.at("configmaps", "one")).status


def case_system_fields_of_the_body_are_ignored(api: Client) -> None:
    """uid, creation and deletion time of the body do not reach the store."""
    body = a_config(
        "one",
        uid="00000000-0000-0000-0000-000000000000",
        creationTimestamp="2001-01-01T00:00:00Z",
        deletionTimestamp="2001-01-01T00:00:00Z",
        deletionGracePeriodSeconds=5,
    )
    metadata = api.create("configmaps", body)["metadata"]
    assert "00000000-0000-0000-0000-000000000000" != metadata["uid"]
    assert "2001-01-01T00:00:00Z" != metadata["creationTimestamp"]
    assert "deletionTimestamp" not in metadata
    assert "deletionGracePeriodSeconds" not in metadata


def case_custom_object_starts_at_generation_one(api: Client) -> None:
    """A kind with a spec starts at generation 1."""
    assert 1 == make_widget(api, "one")["metadata"]["generation"]


def case_config_has_no_generation(api: Client) -> None:
    """A kind without a spec has no generation."""
    assert "generation" not in api.create("configmaps", a_config("one"))["metadata"]


def case_status_of_a_custom_object_is_dropped(api: Client) -> None:
    """A status sent at creation is dropped where status is a subresource."""
    widgets(api)
    made = api.create("widgets", {**a_widget("one"), "status": {"phase": "Ready"}})
    assert "status" not in made


def case_new_pod_is_pending(api: Client) -> None:
    """A pod starts Pending, with the defaults of its spec filled in."""
    pod = make_pod(api, "one")
    assert "Pending" == pod["status"]["phase"]
    spec = pod["spec"]
    assert ("Always", 30, "ClusterFirst") == (
        spec["restartPolicy"],
        spec["terminationGracePeriodSeconds"],
        spec["dnsPolicy"],
    )


def case_pod_needs_a_container(api: Client) -> None:
    """A pod without containers is invalid."""
    api.post(api.at("serviceaccounts"), {"metadata": {"name": "default"}})
    status = api.post(api.at("pods"), {"metadata": {"name": "one"}, "spec": {"containers": []}}).refused(422, "Invalid")
    assert ("FieldValueRequired", "spec.containers") in causes_of(status)


def case_node_keeps_the_status_it_was_created_with(api: Client) -> None:
    """A kubelet registers its node together with its status."""
    body = a_node(api.name("node"))
    body["status"] = {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"bootID": "b1"}}
    node = api.create("nodes", body)
    assert ["Ready"] == [condition["type"] for condition in node["status"]["conditions"]]
    assert "namespace" not in node["metadata"]


def case_yaml_is_accepted(api: Client) -> None:
    """A body may be YAML."""
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  k: v\n"
    made = api.call("POST", api.at("configmaps"), body, content_type="application/yaml").ok(201)
    assert {"k": "v"} == made["data"]


def case_strict_validation_refuses_unknown_fields(api: Client) -> None:
    """With fieldValidation=Strict an unknown field is a bad request that names it."""
    body = {**a_lease("one"), "spec": {"holder": "x"}}
    status = api.post(api.at("leases"), body, fieldValidation="Strict").refused(400, "BadRequest")
    assert 'strict decoding error: unknown field "spec.holder"' in status["message"]
    assert 404 == api.get(api.at("leases", "one")).status


def case_unknown_fields_are_warned_about_and_dropped(api: Client) -> None:
    """By default an unknown field is dropped, and a warning header names it."""
    reply = api.post(api.at("leases"), {**a_lease("one"), "spec": {"holder": "x"}})
    assert "holder" not in reply.ok(201)["spec"]
    assert '299 - "unknown field \\"spec.holder\\""' == reply.headers["warning"]


def case_writer_is_recorded(api: Client) -> None:
    """The field manager of a creation appears in managedFields as an Update."""
    made = api.post(api.at("configmaps"), a_config("one"), fieldManager="creator").ok(201)
    entry = made["metadata"]["managedFields"][0]
    assert ("creator", "Update", "v1", "FieldsV1") == (
        entry["manager"],
        entry["operation"],
        entry["apiVersion"],
        entry["fieldsType"],
    )
    assert {"f:data": {".": {}, "f:k": {}}} == entry["fieldsV1"]


def case_null_in_a_map_is_an_empty_string(api: Client) -> None:
    """A null label or annotation of a new object is stored as an empty string, in all kinds."""
    body = a_config("one", labels={"a": None}, annotations={"example.dev/x": None})
    metadata = api.create("configmaps", body)["metadata"]
    assert ({"a": ""}, {"example.dev/x": ""}) == (metadata["labels"], metadata["annotations"])
    widget = make_widget(api, "one", {"annotations": {"example.dev/x": None}})
    assert {"example.dev/x": ""} == widget["metadata"]["annotations"]


def case_wrong_types_in_metadata_are_refused(api: Client) -> None:
    """Metadata of another type than it should be is a bad request."""
    api.post(api.at("configmaps"), a_config("one", finalizers=[1])).refused(400, "BadRequest")
    api.post(api.at("configmaps"), a_config("one", labels=["a"])).refused(400, "BadRequest")
    widgets(api)
    api.post(api.at("widgets"), a_widget("one", {"finalizers": [1]})).refused(400, "BadRequest")


def case_node_tells_what_is_unknown(api: Client) -> None:
    """A node always has nodeInfo, with empty strings, and conditions always have their times, which may be null."""
    body = a_node(api.name("node"))
    body["status"] = {"conditions": [{"type": "Ready", "status": "True"}], "capacity": {"cpu": "4"}}
    status = api.create("nodes", body)["status"]
    info = status["nodeInfo"]
    assert ("", "", "") == (info["bootID"], info["systemUUID"], info["kubeletVersion"])
    assert {"Port": 0} == status["daemonEndpoints"]["kubeletEndpoint"]
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None}
    assert [condition] == status["conditions"]
    assert {"cpu": "4"} == status["allocatable"]


def case_times_of_a_lease_have_six_decimals(api: Client) -> None:
    """The times of a lease are given in microseconds, and nothing else is accepted."""
    for time in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5Z", "soon"):
        body = {"metadata": {"name": "one"}, "spec": {"renewTime": time}}
        api.post(api.at("leases"), body).refused(400, "BadRequest")
    body = {"metadata": {"name": "one"}, "spec": {"renewTime": "2026-01-01T00:00:00.500000Z"}}
    assert "2026-01-01T00:00:00.500000Z" == api.create("leases", body)["spec"]["renewTime"]
