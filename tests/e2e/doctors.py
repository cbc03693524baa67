"""A vendor of an invented kind of remediation: its definitions, rights, template, and a policy that denies requests.

What the tests of templates install on a real API server, piece by piece or at once.
"""

from __future__ import annotations

from tests.e2e.api import Api, Json, eventually

GROUP = "example.com"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DOCTORS = f"/apis/{GROUP}/v1alpha1/namespaces/default/doctors"
TEMPLATES = f"/apis/{GROUP}/v1alpha1/namespaces/default/doctortemplates"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
POLICIES = "/apis/admissionregistration.k8s.io/v1"


def definition(kind: str, scope: str = "Namespaced") -> Json:
    plural = f"{kind.lower()}s"
    spec = {"type": "object", "properties": {"dose": {"type": "integer", "maximum": 10}}}
    template = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": template if kind.endswith("Template") else spec}}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": scope,
            "versions": [version],
        },
    }


def template(dose: int) -> Json:
    body = {"metadata": {"labels": {"shift": "night"}, "finalizers": ["no"]}, "spec": {"dose": dose}}
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "DoctorTemplate",
        "metadata": {"name": "house-call"},
        "spec": {"template": body},
    }


def vendors_role() -> Json:
    """What the guide tells a vendor to ship."""
    requests = {"apiGroups": [GROUP], "resources": ["doctors"], "verbs": ["get", "list", "watch", "create", "delete"]}
    templates = {"apiGroups": [GROUP], "resources": ["doctortemplates"], "verbs": ["get"]}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "doctor-for-node-remedy", "labels": {"node-remedy.dev/aggregate-to-manager": "true"}},
        "rules": [requests, templates],
    }


def policy(name: str) -> tuple[Json, Json]:
    """Nobody makes a Doctor of this name."""
    rule = {"apiGroups": [GROUP], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["doctors"]}
    group = "admissionregistration.k8s.io/v1"
    made = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-doctor"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": f"object.metadata.name != '{name}'", "message": "no doctor for this one"}],
        },
    }
    spec = {"policyName": "no-doctor", "validationActions": ["Deny"]}
    bound = {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-doctor"}}
    return made, {**bound, "spec": spec}


def request(api: Api, name: str) -> Json | None:
    found = api.get(f"{DOCTORS}/{name}")
    return found.ok() if found.status == 200 else None


def install(api: Api) -> None:
    """What a vendor installs, as far as it is not there yet."""
    for kind in ("Doctor", "DoctorTemplate"):
        if api.get(f"{DEFINITIONS}/{kind.lower()}s.{GROUP}").status == 404:
            api.create(DEFINITIONS, definition(kind)).ok()
    api.apply(f"{ROLES}/doctor-for-node-remedy", vendors_role()).ok()
    eventually(lambda: api.get(TEMPLATES).status == 200, "the kinds are served")
    if api.get(f"{TEMPLATES}/house-call").status == 404:
        api.create(TEMPLATES, template(3)).ok()


def deny(api: Api, name: str) -> None:
    """From now on nobody makes a Doctor of this name."""
    made, bound = policy(name)
    api.create(f"{POLICIES}/validatingadmissionpolicies", made).ok()
    api.create(f"{POLICIES}/validatingadmissionpolicybindings", bound).ok()
    probe = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Doctor", "metadata": {"name": name}}
    eventually(lambda: "no doctor" in api.create(f"{DOCTORS}?dryRun=All", probe).message, "the policy is in force")


def admit(api: Api) -> None:
    api.delete(f"{POLICIES}/validatingadmissionpolicybindings/no-doctor").ok()
