"""The Job of an order, and what its pod tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import NOW
from tests.core.fencing.orders import ORDER, PASSWORD, an_order

from noderemedy.model.ids import NODE, ref
from noderemedy.model.run import Deed, Power, Result, RunState, SecretParameter
from noderemedy.wire import fenceanswer, fencejobs

DONE = Result(RunState.DONE, Power.OFF, "node worker-0: off")
SAYS_DONE = fenceanswer.result_text(DONE)


def body(**changes: Any) -> dict[str, Any]:
    return fencejobs.job_body(an_order(**changes), fencejobs.JobSettings("image:1"), NOW.wall)


def pod(**changes: Any) -> dict[str, Any]:
    return dict(body(**changes)["spec"]["template"]["spec"])


def test_a_job_has_one_try_and_a_deadline() -> None:
    """Another attempt is another order; time until it must begin, its patience, and a margin."""
    spec = body()["spec"]

    assert (0, 1, 1, 30 + 60 + 60) == (
        spec["backoffLimit"],
        spec["completions"],
        spec["parallelism"],
        spec["template"]["spec"]["activeDeadlineSeconds"],
    )


def test_the_deadline_of_the_job_is_later_than_that_of_its_pod() -> None:
    """At that of the Job the pod is deleted, with its log: before, the kubelet has ended it, which takes its grace."""
    spec = body()["spec"]
    pod_ends = (
        spec["template"]["spec"]["activeDeadlineSeconds"] + spec["template"]["spec"]["terminationGracePeriodSeconds"]
    )

    assert pod_ends + 60 == spec["activeDeadlineSeconds"]


@pytest.mark.parametrize(
    ("changes", "kept", "priority"),
    [
        ({}, 3_600, "system-cluster-critical"),
        ({"deed": Deed.STATUS}, 3_600, "system-cluster-critical"),
        ({"deed": Deed.STATUS, "fence": ref(NODE, "worker-0")}, 600, None),
    ],
)
def test_a_drill_takes_nobodys_place_and_is_soon_cleared_away(changes: Any, kept: int, priority: str | None) -> None:
    """Where many devices are away it fails often; what a fence asks for comes before the workload, and is kept."""
    job = body(**changes)

    assert kept == job["spec"]["ttlSecondsAfterFinished"]
    assert priority == job["spec"]["template"]["spec"].get("priorityClassName")


def test_a_job_never_runs_on_the_node_that_it_fences() -> None:
    """By the node's name, which no label can hide."""
    terms = pod()["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["worker-0"]}]}] == terms


def test_what_has_to_run_on_the_node_does() -> None:
    """An agent that unfences from the node itself is bound to it, in spite of taints."""
    spec = pod(bound_to="worker-0")
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]

    assert ("In", [{"operator": "Exists"}]) == (terms[0]["matchFields"][0]["operator"], spec["tolerations"])


def test_what_uses_disks_runs_on_the_node_that_was_chosen() -> None:
    """Which is another one than it is about, if it takes that one's key away."""
    terms = pod(bound_to="worker-7")["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]

    assert [{"key": "metadata.name", "operator": "In", "values": ["worker-7"]}] == (
        terms["nodeSelectorTerms"][0]["matchFields"]
    )


@pytest.mark.parametrize(
    ("agent", "paths"), [("fence_scsi", ["/dev"]), ("fence_mpath", ["/dev", "/etc/multipath.conf", "/run/udev"])]
)
def test_what_uses_disks_sees_those_of_its_node(agent: str, paths: list[str]) -> None:
    """A container has no links such as /dev/disk/by-id; multipath is a daemon of the node. The result is kept elsewhere
    than among the devices, where the runner is told to write it.
    """
    spec = pod(bound_to="worker-7", agent=agent)
    (container,) = spec["containers"]
    volumes = {one["name"]: one["hostPath"]["path"] for one in spec["volumes"] if "hostPath" in one}
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    told = {one["name"]: one["value"] for one in container["env"]}[fencejobs.MESSAGE_VARIABLE]

    assert paths == list(volumes.values()) == [mounts[name] for name in volumes]
    assert (agent == "fence_mpath") is spec.get("hostNetwork", False)
    assert {"runAsUser": 0, "runAsGroup": 0} == spec["securityContext"]
    assert ("/tmp/termination-log", told) == (told, container["terminationMessagePath"])
    assert [] == [one for one in pod()["volumes"] if "hostPath" in one]


def test_secrets_are_mounted_and_never_written() -> None:
    """Each Secret once, as a volume; the order holds names only."""
    twice = (*ORDER.secrets, SecretParameter("username", "bmc-worker-0", "user"), SecretParameter("key", "other", "k"))
    spec = pod(secrets=twice)

    assert ["bmc-worker-0", "other"] == [volume["secret"]["secretName"] for volume in spec["volumes"][1:]]
    assert ["/etc/node-remedy/secrets/bmc-worker-0", "/etc/node-remedy/secrets/other"] == [
        mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"][1:]
    ]
    assert PASSWORD not in json.dumps(spec)


def test_a_secret_that_is_missing_keeps_no_pod_from_starting() -> None:
    """The kubelet would wait for it in silence: the runner starts, and tells which one it misses."""
    assert [True] == [volume["secret"]["optional"] for volume in pod()["volumes"][1:]]


@pytest.mark.parametrize(("bound_to", "is_privileged"), [("", False), ("worker-1", True)])
def test_only_what_touches_disks_has_privileges(bound_to: str, is_privileged: bool) -> None:
    """All others pass the strictest policy of pod security: they talk to the network only."""
    spec = pod(bound_to=bound_to)
    context = spec["containers"][0]["securityContext"]

    assert (is_privileged, not is_privileged) == (
        context.get("privileged", False),
        spec["securityContext"].get("runAsNonRoot", False) and context["capabilities"] == {"drop": ["ALL"]},
    )


def test_a_deleted_job_may_still_end_its_run() -> None:
    """The grace period covers the whole patience."""
    assert 70 == pod()["terminationGracePeriodSeconds"]


def test_the_order_is_in_the_environment() -> None:
    """The runner reads what the manager ordered."""
    variables = {one["name"]: one["value"] for one in pod()["containers"][0]["env"]}

    assert ORDER == fenceanswer.read_order(variables[fencejobs.ORDER_VARIABLE])


def line(kind: str = "MODIFIED", phase: str = "Running", **terminated: Any) -> bytes:
    state = {"terminated": terminated} if terminated else {"running": {}}
    status = {
        "phase": phase,
        "containerStatuses": [{"name": "sidecar", "state": {}}, {"name": "runner", "state": state}],
    }
    return json.dumps({"type": kind, "object": {"status": status}}).encode()


@pytest.mark.parametrize(
    ("told", "state", "word"),
    [
        (line(), None, ""),
        (line("ADDED", "Pending"), None, ""),
        (line("BOOKMARK", "Failed"), None, ""),
        (line(exitCode=0, message=SAYS_DONE), RunState.DONE, "off"),
        (line(exitCode=1, message=SAYS_DONE), RunState.FAILED, "ended with exit code 1"),
        (line(exitCode=0, message=""), RunState.FAILED, "without telling how: exit code 0"),
        (line(exitCode=137, reason="OOMKilled"), RunState.FAILED, "OOMKilled"),
        (line(exitCode=0, message='{"state": "running"}'), RunState.FAILED, "without telling"),
        (line("DELETED"), RunState.FAILED, "its pod is gone"),
        (line(phase="Failed"), RunState.FAILED, "without telling"),
        (line("DELETED", exitCode=0, message=SAYS_DONE), RunState.DONE, "off"),
    ],
)
def test_what_a_pod_tells(told: bytes, state: RunState | None, word: str) -> None:
    """Done only if the runner says so and its exit code agrees; silence at the end is a failure."""
    result = fencejobs.result_in(told)

    assert state is (result.state if result else None)
    assert result is None or word in result.said


@pytest.mark.parametrize("garbage", [b"", b"{}", b'{"type": "ADDED"}', b'{"type": "ADDED", "object": {"status": 7}}'])
def test_a_line_that_is_no_event(garbage: bytes) -> None:
    """It raises what makes the follower look again."""
    with pytest.raises(fenceanswer.Unreadable):
        fencejobs.result_in(garbage)
