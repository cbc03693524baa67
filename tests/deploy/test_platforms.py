"""What single platforms ask of our pods: a quota for critical ones (GKE), and constraints for a fixed user (OpenShift).

Whether a server that limits critical pods takes ours is in tests/e2e/test_deploy.py. No OpenShift runs here: held
together is what can be, that every account of ours may use what its pods ask for, and nothing more.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from noderemedy.model.ids import SYSTEM
from noderemedy.wire import fencejobs, podtemplates

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
OPENSHIFT = (DEPLOY / "rbac" / "60-openshift.yaml").read_text(encoding="utf-8")
NAMESPACE = (DEPLOY / "rbac" / "00-namespace.yaml").read_text(encoding="utf-8")
LARGEST = 15_000  # nodes of a cluster, of each of which a Job may run or wait


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def shipped() -> list[dict[str, Any]]:
    """Every object of the kustomization."""
    files = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    return [tree for file in files for tree in documents((DEPLOY / file).read_text(encoding="utf-8"))]


def manager_pod() -> dict[str, Any]:
    [pod] = [tree["spec"]["template"]["spec"] for tree in shipped() if tree["kind"] == "Deployment"]
    return dict(pod)


# --- GKE -------------------------------------------------------------------------------------------------------------


def assert_quota(text: str) -> None:
    """The classes of our pods are let into our namespace, more of them than can ever be."""
    [quota] = [tree for tree in documents(text) if tree["kind"] == "ResourceQuota"]
    [expression] = quota["spec"]["scopeSelector"]["matchExpressions"]
    assert SYSTEM == quota["metadata"]["namespace"]
    assert ("In", "PriorityClass") == (expression["operator"], expression["scopeName"])
    assert {manager_pod()["priorityClassName"], fencejobs.PRIORITY} == set(expression["values"])
    assert ["pods"] == list(quota["spec"]["hard"])
    number = re.fullmatch(r"(\d+)k", quota["spec"]["hard"]["pods"])
    assert number is not None
    assert int(number[1]) * 1000 > LARGEST, "a quota that is used up would keep a fence from its pod"


def test_critical_pods_have_their_quota() -> None:
    """Managers and fence Jobs may be critical in our namespace, as many as there may be nodes."""
    assert_quota(NAMESPACE)


@pytest.mark.parametrize(("lost", "instead"), [("system-cluster-critical]", "critical]"), ("100k", "10k")])
def test_sabotage_a_quota_that_does_not_fit_is_seen(lost: str, instead: str) -> None:
    """One for another class, or one that could be used up."""
    assert lost in NAMESPACE

    with pytest.raises(AssertionError):
        assert_quota(NAMESPACE.replace(lost, instead))


# --- OpenShift -------------------------------------------------------------------------------------------------------


def assert_bound(text: str) -> None:
    """One role, of one verb on one constraint, for every account that our manifests and Jobs run under."""
    role, binding = documents(text)
    [rule] = role["rules"]
    ours = {tree["metadata"]["name"] for tree in shipped() if tree["kind"] == "ServiceAccount"}
    assert ("Role", "RoleBinding") == (role["kind"], binding["kind"])
    assert {SYSTEM} == {tree["metadata"]["namespace"] for tree in (role, binding)}
    assert (role["kind"], role["metadata"]["name"]) == (binding["roleRef"]["kind"], binding["roleRef"]["name"])
    assert (["security.openshift.io"], ["securitycontextconstraints"]) == (rule["apiGroups"], rule["resources"])
    assert (["nonroot-v2"], ["use"]) == (rule["resourceNames"], rule["verbs"])
    assert {manager_pod()["serviceAccountName"], fencejobs.ACCOUNT} == ours
    assert {(name, SYSTEM) for name in ours} == {(one["name"], one["namespace"]) for one in binding["subjects"]}


def test_every_account_may_use_the_constraint() -> None:
    """Whoever adds an account binds it, too."""
    assert_bound(OPENSHIFT)


@pytest.mark.parametrize(
    "lost",
    [
        "  - {kind: ServiceAccount, name: node-remedy-runner, namespace: node-remedy-system}\n",
        "    resourceNames: [nonroot-v2]\n",
    ],
)
def test_sabotage_an_account_or_a_name_that_is_lost_is_seen(lost: str) -> None:
    """An account less, or the right to use any constraint, makes a difference."""
    assert lost in OPENSHIFT

    with pytest.raises((AssertionError, KeyError)):
        assert_bound(OPENSHIFT.replace(lost, ""))


def test_that_constraint_fits_our_pods() -> None:
    """`nonroot-v2` takes any user but root, any group, no privileges and no more volumes than these."""
    pods = (manager_pod()["securityContext"], fencejobs.UNPRIVILEGED_POD)
    taken = {"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"}

    assert {(True, 65532)} == {(one["runAsNonRoot"], one["runAsUser"]) for one in pods}
    assert {"RuntimeDefault"} == {one["seccompProfile"]["type"] for one in pods}
    assert {key for volume in manager_pod()["volumes"] for key in volume} - {"name"} <= taken
    assert (True, {"fsGroup": 65532}) == (podtemplates.POD_SECURITY["runAsNonRoot"], podtemplates.READING)


def test_it_is_for_openshift_alone() -> None:
    """Not part of the kustomization, and named by the guide with its command."""
    listed = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    guide = (ROOT / "docs" / "guide" / "install.md").read_text(encoding="utf-8")

    assert "rbac/60-openshift.yaml" not in listed
    assert "kubectl apply --server-side -f deploy/rbac/60-openshift.yaml" in guide
