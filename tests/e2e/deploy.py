"""What an administrator does to install node-remedy, done the same way: `kubectl` and the files in deploy/.

Foreign kinds are created only where they are absent and never overwritten; everything of ours is applied. The
manager's identity is a token of the shipped ServiceAccount: no test runs the manager as an administrator.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.api import Api, eventually
from tests.e2e.controlplane import ADMIN, ControlPlane

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NAMESPACE = "node-remedy-system"
MANAGER = "node-remedy-manager"
REPAIRER = "node-remedy-repairer"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/node-remedy-remediation-annotations"
MACHINES = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machines"


def kubectl(plane: ControlPlane, *arguments: str | Path, identity: str = ADMIN) -> str:
    """Runs kubectl as this identity and returns what it printed; a failure is an error with its words."""
    command = [plane.binaries["kubectl"], f"--kubeconfig={plane.kubeconfig(identity)}", *map(str, arguments)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, f"kubectl {' '.join(map(str, arguments))}: {answer.stderr}"
    return answer.stdout


def install(plane: ControlPlane) -> None:
    """Kinds, rights and admission policy, and waits until each is in force."""
    install_foreign_kinds(plane)
    kubectl(plane, "apply", "--server-side", *files_of("crds", "rbac", "admission"))
    wait_for_policy(plane)


def files_of(*folders: str) -> list[str]:
    """What kubectl is told to apply these folders of deploy/."""
    return [part for folder in folders for part in ("-f", str(DEPLOY / folder))]


def install_foreign_kinds(plane: ControlPlane) -> None:
    """Creates the kinds of other projects that are not there yet."""
    files = sorted((DEPLOY / "crds" / "foreign").glob("*.yaml"))
    there = kubectl(plane, "get", "crd", "-o", "name")
    absent = [file for file in files if file.stem not in there]
    if absent:
        kubectl(plane, "create", *(part for file in absent for part in ("-f", file)))
    names = [f"crd/{file.stem}" for file in files]
    kubectl(plane, "wait", "--for=condition=Established", "--timeout=30s", *names)
    api = plane.api()
    eventually(lambda: api.get(MACHINES).status == 200, "the Machine kind is served")


def wait_for_policy(plane: ControlPlane) -> None:
    """The API server takes up a policy a moment after it was stored: ask until it refuses what it must."""
    api = plane.api()
    annotations = {"host.metal3.io/external-remediation": ""}
    probe = {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "Machine",
        "metadata": {"name": "probe", "annotations": annotations},
    }
    allow(api, "policy-probe", [("cluster.x-k8s.io", "machines", ("create",))], "stranger")
    stranger = plane.api("stranger")
    path = f"{MACHINES}?dryRun=All"
    eventually(lambda: "node-remedy-remediator" in stranger.create(path, probe).message, "the policy is in force")
    for kind in ("clusterrolebindings", "clusterroles"):
        api.delete(f"/apis/rbac.authorization.k8s.io/v1/{kind}/policy-probe").ok()


def allow(admin: Api, name: str, rules: Sequence[tuple[str, str, tuple[str, ...]]], user: str) -> None:
    """Gives a restricted identity these rights: group, resource, verbs."""
    root, group = "/apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io"
    listed = [{"apiGroups": [where], "resources": [what], "verbs": list(verbs)} for where, what, verbs in rules]
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": listed}
    admin.apply(f"{root}/clusterroles/{name}", role).ok()
    bind(admin, name, name, user)


def bind(admin: Api, name: str, role: str, user: str) -> None:
    """Binds an existing ClusterRole to a user."""
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }
    admin.apply(f"/apis/{group}/v1/clusterrolebindings/{name}", binding).ok()


def token_of(plane: ControlPlane, account: str = MANAGER) -> str:
    """A token of a shipped ServiceAccount, as a pod of the manager would get one."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token: str = plane.api().create(path, request).ok()["status"]["token"]
    return token


def manager_api(plane: ControlPlane) -> Api:
    """A client that is the manager."""
    return plane.api_with(token_of(plane))


def manager_kubeconfig(plane: ControlPlane) -> Path:
    """The kubeconfig that the manager runs with."""
    return plane.kubeconfig_with("manager", token_of(plane))


def repairer_kubeconfig(plane: ControlPlane) -> Path:
    """The kubeconfig of the account that is shipped for the playbooks."""
    return plane.kubeconfig_with(REPAIRER, token_of(plane, REPAIRER))
