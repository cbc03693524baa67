"""Tables and metadata-only answers: what kubectl and light clients ask for by the Accept header."""

from __future__ import annotations

from tests.conformance.client import Client, Json
from tests.conformance.objects import a_lease, a_node, make_pod, make_widget, widgets

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def _columns(table: Json) -> list[str]:
    return [column["name"] for column in table["columnDefinitions"]]


def case_list_as_table(api: Client) -> None:
    """A list becomes a table with columns, and rows of cells with the object's metadata."""
    made = api.create("leases", a_lease("one"))
    table = api.get(api.at("leases"), accept=TABLE).ok()
    assert ("Table", "meta.k8s.io/v1") == (table["kind"], table["apiVersion"])
    assert "Name" == _columns(table)[0]
    row = table["rows"][0]
    assert "one" == row["cells"][0]
    assert ("PartialObjectMetadata", "meta.k8s.io/v1") == (row["object"]["kind"], row["object"]["apiVersion"])
    assert made["metadata"]["uid"] == row["object"]["metadata"]["uid"]
    assert table["metadata"]["resourceVersion"].isdigit()


def case_object_as_table(api: Client) -> None:
    """One object becomes a table of one row."""
    api.create("leases", a_lease("one"))
    table = api.get(api.at("leases", "one"), accept=TABLE).ok()
    assert ["one"] == [row["cells"][0] for row in table["rows"]]


def case_every_row_fills_every_column(api: Client) -> None:
    """Rows have as many cells as there are columns, and columns have a type."""
    name = api.name("node")
    api.create("nodes", a_node(name))
    make_pod(api, "one")
    for path in (api.at("nodes"), api.at("pods")):
        table = api.get(path, accept=TABLE).ok()
        assert {len(table["columnDefinitions"])} == {len(row["cells"]) for row in table["rows"]}
        assert all(column["type"] for column in table["columnDefinitions"])


def case_node_columns(api: Client) -> None:
    """A node's table tells status, roles and version; a cordoned node says so."""
    name = api.name("node")
    api.create("nodes", a_node(name, unschedulable=True))
    table = api.get(api.at("nodes", name), accept=TABLE).ok()
    assert ["Name", "Status", "Roles", "Age", "Version"] == _columns(table)[:5]
    cells = table["rows"][0]["cells"]
    assert [name, "Unknown,SchedulingDisabled", "<none>"] == cells[:3]


def case_pod_columns(api: Client) -> None:
    """A pod's table tells readiness, status and restarts; a deleted pod is Terminating."""
    make_pod(api, "one", node="here")
    table = api.get(api.at("pods", "one"), accept=TABLE).ok()
    assert ["Name", "Ready", "Status", "Restarts", "Age"] == _columns(table)[:5]
    assert ["one", "0/1", "Pending"] == table["rows"][0]["cells"][:3]
    api.delete(api.at("pods", "one")).ok()
    table = api.get(api.at("pods", "one"), accept=TABLE).ok()
    assert "Terminating" == table["rows"][0]["cells"][2]


def case_custom_columns(api: Client) -> None:
    """A custom kind's table has the columns of its definition, then no others but the name."""
    make_widget(api, "one", size=7)
    table = api.get(api.at("widgets"), accept=TABLE).ok()
    assert ["Name", "Size", "Phase"] == _columns(table)
    assert ["one", 7, None] == table["rows"][0]["cells"]
    assert 1 == table["columnDefinitions"][2]["priority"]


def case_whole_objects_in_rows(api: Client) -> None:
    """includeObject=Object puts whole objects into the rows, None puts none."""
    made = api.create("leases", a_lease("one"))
    whole = api.get(api.at("leases"), accept=TABLE, includeObject="Object").ok()
    assert made["spec"] == whole["rows"][0]["object"]["spec"]
    bare = api.get(api.at("leases"), accept=TABLE, includeObject="None").ok()
    assert bare["rows"][0]["object"] is None


def case_watch_as_tables(api: Client) -> None:
    """A watch sends tables of one row; only the first one carries the columns."""
    version = api.get(api.at("leases")).ok()["metadata"]["resourceVersion"]
    stream = api.watch(api.at("leases"), accept=TABLE, resourceVersion=version)
    api.create("leases", a_lease("a"))
    api.create("leases", a_lease("b"))
    first, second = stream.take(2)
    assert [("ADDED", "Table", "a"), ("ADDED", "Table", "b")] == [
        (event["type"], event["object"]["kind"], event["object"]["rows"][0]["cells"][0]) for event in (first, second)
    ]
    assert "Name" == first["object"]["columnDefinitions"][0]["name"]
    assert not second["object"]["columnDefinitions"]


def case_accept_falls_back_to_json(api: Client) -> None:
    """The first media type that the server can give is taken."""
    api.create("leases", a_lease("one"))
    both = api.get(api.at("leases"), accept=f"{TABLE},application/json").ok()
    assert "Table" == both["kind"]
    plain = api.get(api.at("leases"), accept=f"application/json,{TABLE}").ok()
    assert "LeaseList" == plain["kind"]


def case_metadata_only(api: Client) -> None:
    """An object can be read by its metadata alone."""
    made = api.create("leases", a_lease("one"))
    partial = api.get(api.at("leases", "one"), accept=METADATA).ok()
    assert ("PartialObjectMetadata", "meta.k8s.io/v1") == (partial["kind"], partial["apiVersion"])
    assert made["metadata"] == partial["metadata"]
    assert "spec" not in partial


def case_metadata_only_list(api: Client) -> None:
    """A list can be read by metadata alone, of custom kinds too."""
    widgets(api)
    make_widget(api, "one")
    listing = api.get(api.at("widgets"), accept=METADATA_LIST).ok()
    assert "PartialObjectMetadataList" == listing["kind"]
    assert ["one"] == [item["metadata"]["name"] for item in listing["items"]]
    assert "spec" not in listing["items"][0]


def case_errors_stay_plain(api: Client) -> None:
    """A refusal is a Status even when a table was asked for."""
    api.get(api.at("leases", "none"), accept=TABLE).refused(404, "NotFound")
