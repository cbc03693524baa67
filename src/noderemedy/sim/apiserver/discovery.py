"""What is served: version, groups, resources, in the old form and the aggregated one."""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver.crd import version_rank
from noderemedy.sim.apiserver.resources import Resources
from noderemedy.sim.apiserver.routes import subresources_of
from noderemedy.sim.apiserver.types import ResourceType, Tree

VERSION: Tree = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3",
    "gitCommit": "simulated",
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "simulated",
}
OTHER_KINDS = {
    "scale": ("autoscaling", "v1", "Scale"),
    "eviction": ("policy", "v1", "Eviction"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
    "binding": ("", "v1", "Binding"),
}
"""Subresources that speak another kind than their resource."""

SUBRESOURCE_VERBS = {
    "eviction": ["create"],
    "binding": ["create"],
    "token": ["create"],
    "finalize": ["update"],
}


def groups(resources: Resources) -> dict[str, list[str]]:
    """Every group with its versions, the preferred one first; the core group is ""."""
    found: dict[str, set[str]] = {}
    for resource in resources.all():
        found.setdefault(resource.group, set()).update(version.name for version in resource.versions)
    return {
        name: sorted(versions, key=lambda version: version_rank({"name": version}))
        for name, versions in sorted(found.items())
    }


def group_tree(name: str, versions: list[str]) -> Tree:
    spoken = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": spoken, "preferredVersion": spoken[0]}


def api_versions() -> Tree:
    """/api"""
    address = {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]}


def group_list(resources: Resources) -> Tree:
    """/apis"""
    found = [group_tree(name, versions) for name, versions in groups(resources).items() if name]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def one_group(resources: Resources, name: str) -> Tree | None:
    """/apis/GROUP"""
    versions = groups(resources).get(name)
    return None if versions is None else {"kind": "APIGroup", "apiVersion": "v1", **group_tree(name, versions)}


def resource_list(resources: Resources, group: str, version: str) -> Tree | None:
    """/api/v1 and /apis/GROUP/VERSION"""
    if not resources.serves(group, version):
        return None
    found: list[Tree] = []
    for resource in _served(resources, group, version):
        found.append(_entry(resource))
        found += [_subentry(resource, sub) for sub in sorted(subresources_of(resource, version))]
    found.sort(key=lambda entry: str(entry["name"]))
    spoken = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": spoken, "resources": found}


def _served(resources: Resources, group: str, version: str) -> list[ResourceType]:
    return [one for one in resources.all() if resources.at(group, version, one.plural) is one]


def _entry(resource: ResourceType) -> Tree:
    found: Tree = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        found["shortNames"] = list(resource.short_names)
    if resource.categories:
        found["categories"] = list(resource.categories)
    return found


def _subentry(resource: ResourceType, sub: str) -> Tree:
    group, version, kind = OTHER_KINDS.get(sub, ("", "", resource.kind.kind))
    found: Tree = {
        "name": f"{resource.plural}/{sub}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": kind,
        "verbs": SUBRESOURCE_VERBS.get(sub, ["get", "patch", "update"]),
    }
    return {**found, "group": group, "version": version} if group else found


def aggregated(resources: Resources, is_core: bool, version: str) -> Tree:
    """Everything in one document, as kubectl asks for it first."""
    items = []
    for name, versions in groups(resources).items():
        if is_core is (name == ""):
            meta: dict[str, Any] = {"creationTimestamp": None, **({"name": name} if name else {})}
            spoken = [_aggregated_version(resources, name, one) for one in versions]
            items.append({"metadata": meta, "versions": spoken})
    kind = {"kind": "APIGroupDiscoveryList", "apiVersion": f"apidiscovery.k8s.io/{version}"}
    return {**kind, "metadata": {}, "items": items}


def _aggregated_version(resources: Resources, group: str, version: str) -> Tree:
    found = [_aggregated_entry(one, group, version) for one in _served(resources, group, version)]
    return {"version": version, "resources": found, "freshness": "Current"}


def _aggregated_entry(resource: ResourceType, group: str, version: str) -> Tree:
    entry: Tree = {
        "resource": resource.plural,
        "responseKind": {"group": group, "version": version, "kind": resource.kind.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
        "shortNames": list(resource.short_names),
        "categories": list(resource.categories),
    }
    subs = []
    for sub in sorted(subresources_of(resource, version)):
        other = OTHER_KINDS.get(sub, (group, version, resource.kind.kind))
        kind = {"group": other[0], "version": other[1], "kind": other[2]}
        verbs = SUBRESOURCE_VERBS.get(sub, ["get", "patch", "update"])
        subs.append({"subresource": sub, "responseKind": kind, "verbs": verbs})
    return {**entry, "subresources": subs} if subs else entry
