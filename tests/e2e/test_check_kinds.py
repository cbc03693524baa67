"""The kind MachineHealthCheck on a real API server: what its schema takes, what it refuses, and in which words.

A mistake that a schema can see is refused before it is stored; what only the manager can see becomes `CheckInvalid`.
A refusal must name the field and the remedy, and what was there before stays as it was.
"""

from __future__ import annotations

import pytest
from tests.e2e.api import Json, eventually
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import DEPLOY, install_foreign_kinds, kubectl

KINDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SEED, OPENSHIFT = "cluster.x-k8s.io/v1alpha3", "machine.openshift.io/v1beta1"
READY = {"type": "Ready", "status": "Unknown", "timeout": "5m"}
TEMPLATE = {"apiVersion": "example.com/v1", "kind": "RepairTemplate", "name": "careful"}
LIMIT = 'write a number from 0 on, or a percentage from "0%" to "100%"'
WINDOW = 'write two numbers, the smaller one first, like "[3-5]"'
DURATION = 'write a duration with its unit, like "5m" or "1h30m"'
STARTUP = 'write a duration with its unit, like "10m", or "0" to disable it'
EXPRESSION = "spec.selector.matchExpressions[0]"
SPACED = {"matchLabels": {"role": "my worker"}}
KEYED = {"matchExpressions": [{"key": "my role", "operator": "Exists"}]}
LETTERS = "should match '^([A-Za-z0-9]("
VALUES, NO_VALUES = "In and NotIn need at least one value", "Exists and DoesNotExist take no values"
GROUP = 'write group/version, like "remediation.metal3.io/v1alpha1"'
AT_LEAST = 'write at least "30s", or "0" to disable it'


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    """The kinds of others as we ship them for clusters that lack them."""
    install_foreign_kinds(control_plane)
    return control_plane


def checks(version: str) -> str:
    return f"/apis/{version}/namespaces/default/machinehealthchecks"


def a_check(version: str, **spec: object) -> Json:
    """A check in which only these fields are unusual; None leaves one out."""
    usual = {"selector": {"matchLabels": {"role": "worker"}}, "unhealthyConditions": [READY]}
    wanted = {key: value for key, value in {**usual, **spec}.items() if value is not None}
    return {"apiVersion": version, "kind": "MachineHealthCheck", "metadata": {"name": "workers"}, "spec": wanted}


def labelled(operator: str, values: list[str] | None = None) -> Json:
    """A selector of one expression."""
    return {
        "matchExpressions": [{"key": "role", "operator": operator, **({} if values is None else {"values": values})}]
    }


ACCEPTED: tuple[tuple[str, Json], ...] = (
    (SEED, {}),
    (SEED, {"maxUnhealthy": 0, "nodeStartupTimeout": "0"}),
    (SEED, {"maxUnhealthy": "100%", "nodeStartupTimeout": "1h30m"}),
    (SEED, {"unhealthyRange": "[3-5]", "nodeStartupTimeout": "30s"}),
    (SEED, {"unhealthyRange": "[2-2]", "unhealthyConditions": [{**READY, "timeout": "0"}]}),
    (SEED, {"unhealthyConditions": None, "clusterName": "metal"}),
    (SEED, {"selector": labelled("Exists")}),
    (SEED, {"selector": labelled("NotIn", ["db", "web"])}),
    (SEED, {"selector": labelled("DoesNotExist", [])}),
    (SEED, {"selector": {"matchLabels": {"example.com/role": "", "A-b_c.9": "A-b_c.9"}}}),
    (SEED, {"externalRemediationTemplate": TEMPLATE}),
    (SEED, {"externalRemediationTemplate": {**TEMPLATE, "apiVersion": "remediation.metal3.io/v1alpha1"}}),
    (OPENSHIFT, {"selector": {}}),
    (OPENSHIFT, {"maxUnhealthy": "2", "nodeStartupTimeout": "0"}),
    (OPENSHIFT, {"maxUnhealthy": -1, "unhealthyConditions": [{**READY, "timeout": "0s"}]}),
    (OPENSHIFT, {"maxUnhealthy": "40%", "remediationTemplate": TEMPLATE}),
)


@pytest.mark.parametrize(("version", "spec"), ACCEPTED)
def test_a_good_check_is_accepted(plane: ControlPlane, version: str, spec: Json) -> None:
    """Limits, ranges, durations and selectors in all ways in which they may be written."""
    reply = plane.api().create(f"{checks(version)}?dryRun=All", a_check(version, **spec))

    assert (201, "") == (reply.status, reply.message)


def test_what_openshift_fills_in(plane: ControlPlane) -> None:
    """A limit of 100 % and ten minutes to start, as its API says."""
    made = plane.api().create(f"{checks(OPENSHIFT)}?dryRun=All", a_check(OPENSHIFT)).ok()["spec"]

    assert ("100%", "10m") == (made["maxUnhealthy"], made["nodeStartupTimeout"])


@pytest.mark.parametrize(
    ("namespace", "example"),
    [("machine-api", "health-check"), ("openshift-machine-api", "openshift-health-check")],
)
def test_the_examples_are_accepted(plane: ControlPlane, namespace: str, example: str) -> None:
    """What the guide shows can be applied as it is."""
    kubectl(plane, "create", "namespace", namespace)
    kubectl(plane, "apply", "--dry-run=server", "-f", DEPLOY.parent / "examples" / example)


# what is wrong -> the fields, and what the refusal says: the field, and what to write instead
REFUSED: dict[str, tuple[str, Json, tuple[str, ...]]] = {
    "over a hundred percent": (SEED, {"maxUnhealthy": "140%"}, ("spec.maxUnhealthy", "140%", LIMIT)),
    "below zero": (SEED, {"maxUnhealthy": -1}, ("spec.maxUnhealthy", "-1", LIMIT)),
    "below zero percent": (SEED, {"maxUnhealthy": "-5%"}, ("spec.maxUnhealthy", "-5%", LIMIT)),
    "a number in quotes": (SEED, {"maxUnhealthy": "2"}, ("spec.maxUnhealthy", '"2"', LIMIT)),
    "a word for a limit": (SEED, {"maxUnhealthy": "some"}, ("spec.maxUnhealthy", "some", LIMIT)),
    "a range the wrong way round": (SEED, {"unhealthyRange": "[5-3]"}, ("spec.unhealthyRange", "[5-3]", WINDOW)),
    "a range without an end": (SEED, {"unhealthyRange": "[3-]"}, ("spec.unhealthyRange", "[3-]", WINDOW)),
    "a range without brackets": (SEED, {"unhealthyRange": "3-5"}, ("spec.unhealthyRange", "3-5", WINDOW)),
    "a timeout without a unit": (
        SEED,
        {"unhealthyConditions": [READY, {**READY, "timeout": "300"}]},
        ("spec.unhealthyConditions[1].timeout", "300", DURATION),
    ),
    "a timeout below zero": (
        SEED,
        {"unhealthyConditions": [{**READY, "timeout": "-5m"}]},
        ("spec.unhealthyConditions[0].timeout", "-5m", DURATION),
    ),
    "no timeout": (
        SEED,
        {"unhealthyConditions": [{"type": "Ready", "status": "False"}]},
        ("spec.unhealthyConditions[0].timeout", "Required"),
    ),
    "a status in small letters": (
        SEED,
        {"unhealthyConditions": [{**READY, "status": "unknown"}]},
        ("spec.unhealthyConditions[0].status", "unknown", '"True", "False", "Unknown"'),
    ),
    "a condition without a name": (
        SEED,
        {"unhealthyConditions": [{**READY, "type": ""}]},
        ("spec.unhealthyConditions[0].type", "at least 1 chars"),
    ),
    "a word for a startup": (SEED, {"nodeStartupTimeout": "soon"}, ("spec.nodeStartupTimeout", "soon", STARTUP)),
    "too short a startup": (SEED, {"nodeStartupTimeout": "29s"}, ("spec.nodeStartupTimeout", "29s", AT_LEAST)),
    "an empty selector": (SEED, {"selector": {}}, ("spec.selector", "an empty selector", "name a label")),
    "a selector of no labels": (SEED, {"selector": {"matchLabels": {}}}, ("spec.selector", "name a label")),
    "no selector": (SEED, {"selector": None}, ("spec.selector", "Required")),
    "a cluster of no name": (SEED, {"clusterName": ""}, ("spec.clusterName", "at least 1 chars")),
    "a label with a space": (SEED, {"selector": SPACED}, ("spec.selector.matchLabels.role", "my worker", LETTERS)),
    "a value with a space": (SEED, {"selector": labelled("In", ["my worker"])}, (f"{EXPRESSION}.values[0]", LETTERS)),
    "a key with a space": (SEED, {"selector": KEYED}, (f"{EXPRESSION}.key", "my role", "should match")),
    "openshift: a label with a space": (
        OPENSHIFT,
        {"selector": SPACED},
        ("spec.selector.matchLabels.role", "my worker", LETTERS),
    ),
    "openshift: a key with a space": (OPENSHIFT, {"selector": KEYED}, (f"{EXPRESSION}.key", "my role", "should match")),
    "an operator": (
        SEED,
        {"selector": labelled("Like")},
        ("spec.selector.matchExpressions[0].operator", "Like", '"Exists"'),
    ),
    "In without values": (SEED, {"selector": labelled("In")}, (EXPRESSION, VALUES)),
    "NotIn with no values": (SEED, {"selector": labelled("NotIn", [])}, (EXPRESSION, VALUES)),
    "Exists with values": (SEED, {"selector": labelled("Exists", ["worker"])}, (EXPRESSION, NO_VALUES)),
    "a template of no group": (
        SEED,
        {"externalRemediationTemplate": {**TEMPLATE, "apiVersion": "v1"}},
        ("spec.externalRemediationTemplate.apiVersion", '"v1"', GROUP),
    ),
    "a template of Kubernetes' own": (
        SEED,
        {"externalRemediationTemplate": {**TEMPLATE, "apiVersion": "apps/v1"}},
        ("spec.externalRemediationTemplate.apiVersion", "apps/v1", GROUP),
    ),
    "a template of no version": (
        SEED,
        {"externalRemediationTemplate": {**TEMPLATE, "apiVersion": ""}},
        ("spec.externalRemediationTemplate.apiVersion", GROUP),
    ),
    "a kind that is no template": (
        SEED,
        {"externalRemediationTemplate": {**TEMPLATE, "kind": "Repair"}},
        ("spec.externalRemediationTemplate.kind", "Repair", "name a kind that ends in Template"),
    ),
    "a template without a name": (
        SEED,
        {"externalRemediationTemplate": {**TEMPLATE, "name": ""}},
        ("spec.externalRemediationTemplate.name", "at least 1 chars"),
    ),
    "openshift: over a hundred percent": (OPENSHIFT, {"maxUnhealthy": "101%"}, ("spec.maxUnhealthy", "101%", LIMIT)),
    "openshift: a percentage and more": (OPENSHIFT, {"maxUnhealthy": "1%0"}, ("spec.maxUnhealthy", "1%0", LIMIT)),
    "openshift: no condition": (
        OPENSHIFT,
        {"unhealthyConditions": []},
        ("spec.unhealthyConditions", "at least 1 items"),
    ),
    "openshift: a timeout": (
        OPENSHIFT,
        {"unhealthyConditions": [{**READY, "timeout": "soon"}]},
        ("spec.unhealthyConditions[0].timeout", "soon", DURATION),
    ),
    "openshift: a startup": (OPENSHIFT, {"nodeStartupTimeout": "1"}, ("spec.nodeStartupTimeout", '"1"', STARTUP)),
    "openshift: too short": (OPENSHIFT, {"nodeStartupTimeout": "1s"}, ("spec.nodeStartupTimeout", "1s", AT_LEAST)),
    "openshift: no selector": (OPENSHIFT, {"selector": None}, ("spec.selector", "Required")),
    "openshift: In without values": (OPENSHIFT, {"selector": labelled("In")}, (EXPRESSION, VALUES)),
    "openshift: DoesNotExist with values": (
        OPENSHIFT,
        {"selector": labelled("DoesNotExist", ["worker"])},
        (EXPRESSION, NO_VALUES),
    ),
    "openshift: a template of no group": (
        OPENSHIFT,
        {"remediationTemplate": {**TEMPLATE, "apiVersion": "v1"}},
        ("spec.remediationTemplate.apiVersion", '"v1"', GROUP),
    ),
    "openshift: a kind that is no template": (
        OPENSHIFT,
        {"remediationTemplate": {**TEMPLATE, "kind": "Repair"}},
        ("spec.remediationTemplate.kind", "Repair", "name a kind that ends in Template"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_check_is_refused(plane: ControlPlane, name: str) -> None:
    """The refusal names the check, the field and what to write instead; nothing is stored."""
    version, spec, words = REFUSED[name]
    reply = plane.api().create(checks(version), a_check(version, **spec))

    assert 422 == reply.status, reply.message
    assert [] == [word for word in ("workers", *words) if word not in reply.message], reply.message
    assert 404 == plane.api().get(f"{checks(version)}/workers").status


@pytest.mark.parametrize("version", [SEED, OPENSHIFT])
def test_a_bad_change_is_refused(plane: ControlPlane, version: str) -> None:
    """A check that works is not broken by a slip: the change is refused as a whole, and the old limit holds."""
    api, path = plane.api(), f"{checks(version)}/workers"
    before = api.create(checks(version), a_check(version, maxUnhealthy="40%")).ok()
    try:
        reply = api.merge(path, {"spec": {"maxUnhealthy": "400%", "nodeStartupTimeout": "1h"}})
        assert (422, True) == (reply.status, LIMIT in reply.message)
        assert before == api.get(path).ok()
    finally:
        api.delete(path).ok()


def test_sabotage_without_the_rules_every_mistake_is_taken(plane: ControlPlane) -> None:
    """It is the shipped schema that refuses: the same kind without one stores whatever is written."""
    api, group = plane.api(), "lax.example.com"
    names = {"kind": "MachineHealthCheck", "plural": "machinehealthchecks"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    api.create(KINDS, {**kind, "metadata": {"name": f"machinehealthchecks.{group}"}}).ok()
    lax = f"{group}/v1"
    eventually(lambda: api.get(checks(lax)).status == 200, "the kind is served")

    answers = [api.create(f"{checks(lax)}?dryRun=All", a_check(lax, **spec)) for _, spec, _ in REFUSED.values()]
    assert {201} == {answer.status for answer in answers}
