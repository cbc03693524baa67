"""Which volumes storage-detach.yaml detaches, and what speaks against it; tests/e2e/test_playbooks.py runs the play."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from noderemedy.wire import pods as wire

RUNNER = Path(__file__).resolve().parents[2] / "deploy" / "remedy-image" / "runner"
Tree = dict[str, Any]


def load() -> ModuleType:
    """As Ansible loads it: by its path."""
    path = RUNNER / "project" / "filter_plugins" / "volumes_of_node.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plugin = load()
HOST = "kubernetes.io/hostname"
CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
DISK = {"csi": {"driver": "d", "volumeHandle": "vol-1"}}
SHARE = {"csi": {"driver": "nfs.csi.k8s.io", "volumeHandle": "server/share"}}


def pinned(*hosts: str) -> Tree:
    terms = [{"matchExpressions": [{"key": HOST, "operator": "In", "values": list(hosts)}]}]
    return {"local": {"path": "/dev/sdb"}, "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


def an_attachment(volume: str | None = "disk", node: str = "n1") -> Tree:
    return {
        "metadata": {"name": f"csi-{volume}"},
        "spec": {"nodeName": node, "source": {"persistentVolumeName": volume}},
    }


def found(
    *volumes: Tree,
    attachments: tuple[Tree, ...] = (an_attachment(),),
    claimed: str | None = "disk",
    source: Tree = DISK,
    phase: str = "Running",
) -> tuple[list[str], list[str]]:
    """A pod with these volumes on n1, a claim `data` and the volumes `disk` (of a block storage) and `other`."""
    pod = {
        "metadata": {"namespace": "shop", "name": "db"},
        "spec": {"volumes": list(volumes)},
        "status": {"phase": phase},
    }
    claims = [
        {"metadata": {"namespace": "shop", "name": name}, "spec": {"volumeName": claimed}}
        for name in ("data", "db-tmp")
    ]
    disks = {"disk": DISK, "other": source}
    shown = [
        {"metadata": {"name": "n1", "labels": {HOST: "n1"}}},
        {"items": [pod]},
        {"items": claims},
        {"items": [{"metadata": {"name": name}, "spec": spec} for name, spec in disks.items()]},
        {"items": list(attachments)},
    ]
    told = plugin.volumes_of_node(shown)
    return [f"{one['driver']} {one['handle']}" for one in told["attached"]], told["problems"]


@pytest.mark.parametrize(
    "volume",
    [CLAIM, {"name": "tmp", "ephemeral": {}}, *({"name": "own", kind: {}} for kind in plugin.OF_THE_NODE)],
    ids=lambda volume: "-".join(volume),
)
def test_what_is_attached_is_detached(volume: Tree) -> None:
    """Volumes that are the pod's or the node's own stand in nobody's way."""
    assert (["d vol-1"], []) == found(volume)


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"name": "share", "nfs": {"server": "s", "path": "/"}}, "volume share (nfs)"),
        ({"name": "share", "cephfs": {}}, "volume share (cephfs)"),
        ({"name": "share", "csi": {"driver": "smb.csi.k8s.io"}}, "volume share (csi)"),
        ({"name": "share", "kindOfTomorrow": {}}, "volume share (kindOfTomorrow)"),
        ({"name": "share", "emptyDir": {}, "nfs": {}}, "volume share (emptyDir, nfs)"),
        ({"name": "share"}, "volume share (of no kind)"),
        ({"name": "share", "persistentVolumeClaim": {"claimName": "lost"}}, "claim shop/lost has no volume"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_what_is_within_reach_and_not_attached_is_named(volume: Tree, why: str) -> None:
    """By pod and volume: an attached disk beside it proves nothing about it."""
    _, problems = found(CLAIM, volume)

    assert [True] == [one.startswith("pod shop/db, ") and why in one for one in problems]


@pytest.mark.parametrize(
    ("claimed", "source", "is_told"),
    [
        ("other", SHARE, True),
        ("other", {"nfs": {}}, True),
        ("other", pinned("n1", "n2"), True),
        ("other", pinned("n2"), True),
        ("other", {"local": {}}, True),
        ("missing", DISK, True),
        (None, DISK, True),
        ("other", pinned("n1"), False),
        ("other", {"hostPath": {}}, False),
        ("disk", SHARE, False),
    ],
)
def test_the_volume_of_a_claim_must_be_attached(claimed: str | None, source: Tree, *, is_told: bool) -> None:
    """Unless it is a folder or a disk of this node alone."""
    _, problems = found(CLAIM, claimed=claimed, source=source)

    assert is_told == bool(problems)


@pytest.mark.parametrize(
    "attachments",
    [(), (an_attachment(node="n2"),), (an_attachment("other"),), (an_attachment(None),), (an_attachment("missing"),)],
)
def test_an_attachment_that_says_nothing_is_a_problem(attachments: tuple[Tree, ...]) -> None:
    """None at all, of another node only, or one whose name at the storage nobody knows."""
    handles, problems = found(attachments=attachments, source={"nfs": {}})

    assert [] == handles
    assert [] != problems


def test_every_attachment_is_detached() -> None:
    """Also one that no pod has any more; a pod that has ended needs none."""
    both = (an_attachment(), an_attachment("other"), an_attachment("disk", "n2"))

    assert (["d vol-1", "nfs.csi.k8s.io server/share"], []) == found(attachments=both, source=SHARE)
    assert (["d vol-1"], []) == found({"name": "share", "nfs": {}}, phase="Succeeded")


def test_what_is_of_the_node_is_the_same_as_for_the_manager() -> None:
    """One list of volumes that storage fencing leaves aside, in two places."""
    assert set(wire.OF_THE_POD) - {"name"} == set(plugin.OF_THE_NODE)
