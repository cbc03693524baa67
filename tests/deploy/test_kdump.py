"""deploy/kdump, the component for managers that hear crash kernels, as far as no cluster is needed to judge it.

tests/e2e/test_deploy.py has kustomize build it, and a real API server admit and schedule what comes out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from noderemedy.cli.manager import manager
from noderemedy.drivers.kdump import PORT

ROOT = Path(__file__).resolve().parents[2]
COMPONENT: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "kdump" / "kustomization.yaml").read_text())
POD = "/spec/template/spec"


def changes(kind: str) -> dict[str, Any]:
    """What is put where, in the object of this kind."""
    [text] = [one["patch"] for one in COMPONENT["patches"] if one["target"]["kind"] == kind]
    return {one["path"]: one["value"] for one in yaml.safe_load(text)}


def shipped(kind: str) -> dict[str, Any]:
    files = {"Deployment": "manager/deployment.yaml", "Namespace": "rbac/00-namespace.yaml"}
    documents = yaml.safe_load_all((ROOT / "deploy" / files[kind]).read_text())
    return next(one for one in documents if one["kind"] == kind)


def test_it_changes_what_is_shipped() -> None:
    """Its targets are the namespace and the Deployment of deploy/, and it is left out until somebody wants it."""
    targets = [(one["target"]["kind"], one["target"]["name"]) for one in COMPONENT["patches"]]
    text = (ROOT / "deploy" / "kustomization.yaml").read_text()

    assert targets == [(kind, shipped(kind)["metadata"]["name"]) for kind in ("Namespace", "Deployment")]
    assert ("Component", None) == (COMPONENT["kind"], yaml.safe_load(text).get("components"))
    assert "\n# components: [kdump]\n" in text


def test_it_listens_where_crash_kernels_send() -> None:
    """The command line is understood, and the port that is listened at is the port that is declared, by UDP."""
    asked = changes("Deployment")[f"{POD}/containers/0/args/-"]
    port = changes("Deployment")[f"{POD}/containers/0/ports/-"]

    assert f"0.0.0.0:{PORT}" == manager.make_context("manager", [asked]).params["kdump_listen"]
    assert (PORT, "UDP") == (port["containerPort"], port["protocol"])


def test_no_two_managers_share_a_host() -> None:
    """Required, by labels that managers have: the second one of a host would find its ports taken."""
    [term] = changes("Deployment")[f"{POD}/affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    labels = shipped("Deployment")["spec"]["template"]["metadata"]["labels"]

    assert "kubernetes.io/hostname" == term["topologyKey"]
    assert term["labelSelector"]["matchLabels"].items() <= labels.items()


def test_it_has_the_network_of_its_host() -> None:
    """Messages keep the address of their sender; names of the cluster are still found; the namespace lets it in."""
    found = changes("Deployment")

    assert (True, "ClusterFirstWithHostNet") == (found[f"{POD}/hostNetwork"], found[f"{POD}/dnsPolicy"])
    assert ["privileged"] == list(changes("Namespace").values())
    assert "restricted" == shipped("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
