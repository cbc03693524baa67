"""The objects that the cases create: small builders, and the two custom kinds that all cases share."""

from __future__ import annotations

from typing import Any

from tests.conformance.client import GROUP, Client

Json = dict[str, Any]


def a_config(name: str, data: Json | None = None, **metadata: Any) -> Json:
    """A ConfigMap body."""
    return {"metadata": {"name": name, **metadata}, "data": {"k": "v"} if data is None else data}


def a_lease(name: str, **metadata: Any) -> Json:
    """A Lease body: a kind that no controller creates in a case's namespace, so lists are exact."""
    return {"metadata": {"name": name, **metadata}, "spec": {"holderIdentity": "nobody"}}


def a_pod(name: str, node: str = "", **metadata: Any) -> Json:
    """A Pod body that no scheduler and no kubelet will pick up."""
    spec: Json = {"containers": [{"name": "main", "image": "example.invalid/main"}], "schedulerName": "nobody"}
    if node:
        spec["nodeName"] = node
    return {"metadata": {"name": name, **metadata}, "spec": spec}


def a_node(name: str, **spec: Any) -> Json:
    """A Node body."""
    return {"metadata": {"name": name}, "spec": spec}


def make_pod(api: Client, name: str, node: str = "", **metadata: Any) -> Json:
    """Create a pod; its service account is created first, as a controller would."""
    api.post(api.at("serviceaccounts"), {"metadata": {"name": "default"}})
    return api.create("pods", a_pod(name, node, **metadata))


WIDGET_SPEC: Json = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1, "maximum": 100},
        "color": {"type": "string", "enum": ["red", "green", "blue"], "default": "red"},
        "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8},
        "note": {"type": "string", "nullable": True},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        "unique": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "weight": {"type": "integer"},
                    "shape": {"type": "string", "default": "round"},
                },
            },
        },
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
        "share": {"x-kubernetes-int-or-string": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "nested": {
            "type": "object",
            "properties": {"mode": {"type": "string", "default": "auto"}, "level": {"type": "integer"}},
        },
        "when": {"type": "string", "format": "date-time"},
    },
}


def a_definition(plural: str, kind: str, *, scope: str, spec: Json, group: str = GROUP) -> Json:
    """A CustomResourceDefinition body with one version, a status subresource and two printer columns."""
    schema = {
        "type": "object",
        "properties": {
            "spec": spec,
            "status": {
                "type": "object",
                "properties": {"phase": {"type": "string"}, "seen": {"type": "integer"}},
            },
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1},
        ],
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": scope, "names": names, "versions": [version]},
    }


def install(api: Client, definition: Json) -> None:
    """Create a custom kind and wait until it is served."""
    spec = definition["spec"]
    assert api.post(api.at("customresourcedefinitions"), definition).status in (201, 409)
    path = f"/apis/{spec['group']}/v1/{spec['names']['plural']}"
    api.eventually(lambda: api.get(path).status == 200)


def widgets(api: Client) -> None:
    """Make sure that the shared namespaced kind Widget is served."""
    if "widgets" not in api.site.installed:
        install(api, a_definition("widgets", "Widget", scope="Namespaced", spec=WIDGET_SPEC))
        api.site.installed.add("widgets")


def a_widget(name: str, metadata: Json | None = None, **spec: Any) -> Json:
    """A Widget body."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Widget",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"size": 1, **spec},
    }


def make_widget(api: Client, name: str, metadata: Json | None = None, **spec: Any) -> Json:
    """Create a widget, installing its kind first."""
    widgets(api)
    return api.create("widgets", a_widget(name, metadata, **spec))


def names_of(listing: Json) -> list[str]:
    """The names of a list's items, in the order served."""
    return [item["metadata"]["name"] for item in listing["items"]]


def causes_of(status: Json) -> list[tuple[str, str]]:
    """The (reason, field) pairs of a refusal's causes."""
    causes = status.get("details", {}).get("causes", [])
    return [(cause.get("reason", ""), cause.get("field", "")) for cause in causes]
