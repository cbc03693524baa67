"""`plan` on files and on a live cluster with templates of an invented kind: what would be made, and why not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.builders import DOCTOR, MACHINE_AT, NAMESPACE, TEMPLATE_AT, a_machine_tree, a_metadata, a_node_tree
from tests.manager.bench import Bench, bench
from tests.manager.test_liveplan import now

from noderemedy.manager.liveplan import on_cluster
from noderemedy.manager.plan import Plan, on_trees
from noderemedy.manager.sources import Source
from noderemedy.model.actions import CreateRequest, DeleteRequest
from noderemedy.model.ids import HEALTH_CHECK, ref
from noderemedy.sim.ward import TEMPLATE, definition

VERSION = "example.com/v1alpha1"
LABELS = {"role": "worker"}
CHECK_AT = ref(HEALTH_CHECK, "workers", NAMESPACE)
SICK_SINCE = "2020-01-01T00:00:00Z"


def a_sick_world() -> list[dict[str, Any]]:
    """A machine whose node is silent for years, some that are well, and a check that names a template."""
    machine, node = a_machine_tree(), a_node_tree()
    machine["metadata"]["labels"] = LABELS
    node["status"]["conditions"] = [{"type": "Ready", "status": "Unknown", "lastTransitionTime": SICK_SINCE}]
    others = [a_node_tree(f"well-{number}", uid=f"well-{number}") for number in range(9)]
    reference = {"apiVersion": VERSION, "kind": "DoctorTemplate", "name": TEMPLATE_AT.name}
    check = {
        "apiVersion": "cluster.x-k8s.io/v1alpha3",
        "kind": "MachineHealthCheck",
        "metadata": a_metadata(CHECK_AT, "check-uid", "9", None),
        "spec": {
            "selector": {"matchLabels": LABELS},
            "unhealthyConditions": [{"type": "Ready", "status": "Unknown", "timeout": "5m"}],
            "externalRemediationTemplate": reference,
        },
    }
    return [machine, node, *others, check]


def a_template_tree() -> dict[str, Any]:
    spec = {"template": {"spec": {"dose": 3}}}
    return {"apiVersion": VERSION, "kind": "DoctorTemplate", "metadata": named(TEMPLATE_AT.name), "spec": spec}


def a_doctor_tree(owner_uid: str) -> dict[str, Any]:
    owner = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "name": MACHINE_AT.name, "uid": owner_uid}
    return {
        "apiVersion": VERSION,
        "kind": "Doctor",
        "metadata": {**named(MACHINE_AT.name), "ownerReferences": [owner]},
    }


def named(name: str) -> dict[str, str]:
    return {"name": name, "namespace": NAMESPACE}


def plan_of(*trees: dict[str, Any]) -> tuple[list[type], list[str], Plan]:
    """Actions and reasons for the machine."""
    plan = on_trees([Source(tree, "file") for tree in (*a_sick_world(), *trees)], now())
    return *of_machine(plan), plan


def of_machine(plan: Plan) -> tuple[list[type], list[str]]:
    (entry,) = [one for one in plan.entries if one.room == "remediation"]
    return [type(action) for action in entry.actions], [type(reason).__name__ for reason in entry.because]


@pytest.mark.parametrize(
    ("trees", "actions", "reason"),
    [
        ([a_template_tree()], [CreateRequest], "RequestNeeded"),
        ([], [], "TemplateNotFound"),
        ([a_template_tree(), a_doctor_tree("machine-uid-1")], [], "RemediationGoesOn"),
        ([a_template_tree(), a_doctor_tree("somebody")], [], "RequestNotOurs"),
        ([{**a_template_tree(), "spec": {"template": "text"}}], [], "TemplateUnusable"),
    ],
)
def test_files_with_a_template(trees: list[dict[str, Any]], actions: list[type], reason: str) -> None:
    """A file is the whole world: kinds that only a check names are read as any other, and no read is left over."""
    found, reasons, _ = plan_of(*trees)

    assert actions == [kind for kind in found if kind in (CreateRequest, DeleteRequest)]
    assert reason in reasons


def test_kinds_that_no_check_names_are_not_looked_at() -> None:
    """They are counted as before: not at all; a second object of one name is remarked once."""
    nurse = {"apiVersion": VERSION, "kind": "Nurse", "metadata": named("x")}
    _, _, plan = plan_of(a_template_tree(), a_template_tree(), nurse)

    assert len(a_sick_world()) + 1 == plan.objects
    assert 1 == len([remark for remark in plan.remarks if "DoctorTemplate" in remark])


async def look(it: Bench) -> tuple[list[type], list[str], Plan]:
    plan = await on_cluster(it.kubeconfig, "", now())
    return *of_machine(plan), plan


def test_a_live_cluster_with_a_template(tmp_path: Path) -> None:
    """Kind missing, template missing, all there: told as the manager would, and only GETs are sent."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            for tree in a_sick_world():
                it.create(tree)
            _, missing, plan = await look(it)
            for kind in (DOCTOR, TEMPLATE):
                it.api.create(definition(kind))
            _, without, _ = await look(it)
            it.api.create(a_template_tree())
            actions, _, _ = await look(it)

            assert "TemplateKindMissing" in missing
            assert [remark for remark in plan.remarks if "DoctorTemplate.example.com is not installed" in remark]
            assert "TemplateNotFound" in without
            assert CreateRequest in actions
            assert {"GET"} == {request.method for _, request in it.requests}

    asyncio.run(asyncio.wait_for(story(), 20))
