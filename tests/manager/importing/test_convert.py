"""`import --convert`: the same check with a template, or a refusal that names everything that stands against it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.manager.importing.trees import (
    KINDS,
    NAMESPACE,
    OPENSHIFT,
    SEED,
    STRATEGY,
    a_check,
    a_definition,
    a_machine,
    a_marked_machine,
    a_world,
    definitions,
)

from noderemedy.manager.importing.convert import CannotConvert, convert, remarks
from noderemedy.model.healthcheck import HealthCheck, TemplateRef
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK
from noderemedy.sim.cluster import Cluster
from noderemedy.wire import names, objects

KIND = {OPENSHIFT: OPENSHIFT_HEALTH_CHECK, SEED: HEALTH_CHECK}
DEFINITION = "machinehealthchecks.machine.openshift.io"


def annotated(version: str = OPENSHIFT, name: str = "workers", **more: Any) -> dict[str, Any]:
    return a_check(version, name, annotations={**STRATEGY, "kept": "yes"}, maxUnhealthy="40%", **more)


def read(tree: dict[str, Any]) -> HealthCheck:
    found = objects.convert(KIND[tree["apiVersion"]], tree).obj
    assert isinstance(found, HealthCheck)
    return found


def refusal(*trees: dict[str, Any], only: tuple[str, ...] = ()) -> str:
    with pytest.raises(CannotConvert) as caught:
        convert(a_world(*trees), only)
    return str(caught.value)


@pytest.mark.parametrize("version", [OPENSHIFT, SEED])
def test_the_converted_check_is_the_same_check_with_a_template(version: str) -> None:
    """Read back in its own dialect it is valid and differs in nothing but how it repairs."""
    before = annotated(version, created="2029-01-01T00:00:00Z")
    template, after = convert(a_world(before, a_machine("w0", version), *definitions()))
    was, now = read(before), read(after)

    assert () == now.problems
    assert TemplateRef("remediation.metal3.io/v1alpha1", "Metal3RemediationTemplate", "workers", NAMESPACE) == (
        now.template
    )
    assert was.annotation_mode
    assert replace(was, annotation_mode=False, template=now.template, created=None) == now
    assert {"kept": "yes"} == after["metadata"]["annotations"]
    assert ("workers", NAMESPACE) == (template["metadata"]["name"], template["metadata"]["namespace"])


@pytest.mark.parametrize(("startup", "power_on"), [("10m", 600), ("30m", 1_800), ("0s", 600)])
def test_the_template_repeats_what_the_annotation_did(startup: str, power_on: int) -> None:
    """Power cycling without end and without replacing anything; a slow host gets its time."""
    template, _ = convert(a_world(annotated(nodeStartupTimeout=startup), a_machine("w0"), *definitions()))

    assert {"strategy": "reboot", "powerOffTimeoutSeconds": 120, "powerOnTimeoutSeconds": power_on} == (
        template["spec"]["template"]["spec"]
    )


@pytest.mark.parametrize(("startup", "power_on", "is_told"), [("24h", 86_400, False), ("25h", 86_400, True)])
def test_a_template_waits_no_longer_than_its_kind_allows(startup: str, power_on: int, is_told: bool) -> None:
    """The API server accepts it, or a check would name a template that is not there; what is cut off is said."""
    world = a_world(annotated(nodeStartupTimeout=startup), a_machine("w0"), *definitions())
    template, _ = convert(world)
    api = Cluster(nodes=1, seed=1).api
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    accepted = api.create(template)

    assert power_on == accepted["spec"]["template"]["spec"]["powerOnTimeoutSeconds"]
    assert [is_told] * is_told == ["powerOnTimeoutSeconds" in told and "86400" in told for told in remarks(world)]


def test_templates_come_before_the_checks_that_name_them() -> None:
    """Applied from top to bottom, no check ever names a template that is not there."""
    made = convert(a_world(annotated(), annotated(name="more"), a_machine("w0"), *definitions()))

    assert ["Metal3RemediationTemplate"] * 2 + ["MachineHealthCheck"] * 2 == [tree["kind"] for tree in made]


def test_other_checks_are_left_out() -> None:
    """A check that does not repair by annotation is not touched, and without any there is nothing to refuse."""
    assert [] == convert(a_world(a_check(), a_machine("w0")))


@pytest.mark.parametrize("missing", KINDS)
def test_refused_without_the_kinds(missing: str) -> None:
    """Seed 004: conversion only when both template kinds exist; the missing one is named."""
    others = [a_definition(name) for name in KINDS if name != missing]

    assert f"the kind {missing} is not there" in refusal(annotated(), a_machine("w0"), *others)


def test_refused_without_the_field() -> None:
    """Seed 004: an API server that would drop the new field would leave a check that deletes machines."""
    trees = [annotated(), a_machine("w0"), *definitions()]

    assert "has no field spec.remediationTemplate" in refusal(*trees, a_definition(DEFINITION))
    assert 2 == len(convert(a_world(*trees, a_definition(DEFINITION, {"remediationTemplate": {}}))))


def test_refused_while_a_machine_is_marked() -> None:
    """Machines that still carry the annotation are named, also those that are paused."""
    paused = a_marked_machine("w1", **{names.CLUSTER_PAUSED: ""})
    words = refusal(annotated(), a_marked_machine("w0"), paused, a_machine("w2"), *definitions())

    assert "w0, w1 still carry host.metal3.io/external-remediation" in words


def test_refused_without_machines() -> None:
    """Nobody knows what is under repair where no machine was told."""
    assert "no Machines were given" in refusal(annotated(), *definitions())


def test_refused_while_invalid() -> None:
    """What cannot be read is not rewritten."""
    check = annotated()
    check["spec"]["maxUnhealthy"] = "lots"

    assert "is invalid: spec.maxUnhealthy" in refusal(check, a_machine("w0"), *definitions())


def test_refused_when_the_name_is_taken() -> None:
    """Another template of the name is nobody's to overwrite; the same one is no obstacle."""
    world = [annotated(), a_machine("w0"), *definitions()]
    same, _ = convert(a_world(*world))
    other = {**same, "spec": {"template": {"spec": {"strategy": "escalate"}}}}

    assert 2 == len(convert(a_world(*world, same)))
    assert "another Metal3RemediationTemplate of that name" in refusal(*world, other)


def test_all_obstacles_are_named_at_once() -> None:
    """Nothing is converted by halves, and nobody has to run it once per obstacle."""
    words = refusal(annotated(), annotated(name="more"), a_marked_machine("w0"))

    assert 4 == words.count("\n  - ")


def test_only_the_chosen_check_is_converted() -> None:
    """A check under repair does not stop another one from being converted by name."""
    trees = [annotated(), annotated(name="more"), a_machine("w0"), *definitions()]
    _, check = convert(a_world(*trees), (f"{NAMESPACE}/more",))

    assert "more" == check["metadata"]["name"]


def test_a_wrong_choice_is_told() -> None:
    """A name that means nothing, or a check without annotation mode, is refused by name."""
    words = refusal(a_check(), a_machine("w0"), only=("nowhere/x", f"{NAMESPACE}/workers"))

    assert "nowhere/x: there is no such MachineHealthCheck" in words
    assert f"{NAMESPACE}/workers: it does not repair by annotation" in words
