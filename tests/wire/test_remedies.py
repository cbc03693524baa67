"""Remedies on the wire: the record both ways, the Job that is made, how a Job's end is read, and what is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import NODE_AT, RESOURCES, a_node_tree, ago

from noderemedy.model.actions import CreateJob, Guard, KeepDocument, WriteRemedyRecord
from noderemedy.model.configuration import Configuration, Document
from noderemedy.model.ids import CONFIG_MAP, JOB, NODE, SYSTEM, ref
from noderemedy.model.meta import Malformed
from noderemedy.model.remedy import Job, JobState, Outcome, Phase, PodRemedy, RemedyOrder, RemedyRecord
from noderemedy.model.time import MINUTE, Span, Wall
from noderemedy.wire.http import Request
from noderemedy.wire.objects import convert
from noderemedy.wire.placedfields import PlacedFields
from noderemedy.wire.podtemplates import read_pod
from noderemedy.wire.remedies import read_record, record_text
from noderemedy.wire.requests import render

RECORD = RemedyRecord(
    "0123456789", "workers", "Ready=False", ago(600), 2, "reset", Phase.RUNNING, ago(60), "boot-1", "j"
)
POD: dict[str, Any] = {"spec": {"containers": [{"name": "c", "image": "i", "env": ["keys"], "configmaps": ["m", "n"]}]}}


def a_pod(template: dict[str, Any]) -> PodRemedy:
    """A remedy's pod as it is read from a document."""
    fields = PlacedFields({}, "config.yaml", {})
    found = read_pod(fields, "remedyConfigs[0]", {"podTemplate": template})
    assert found is not None, fields.problems
    return found


def an_order(pod: PodRemedy) -> RemedyOrder:
    told = ("192.0.2.7", "node.example"), "aws:///zone/i-1", "0123456789", "workers", "Ready=False", "reset", 2
    return RemedyOrder("worker-0", "node-uid-1", "boot-1", *told, pod, ago(0))


def rendered(action: Any) -> Any:
    request: Request = render(action, 7, RESOURCES)
    return request.method, request.path, json.loads(request.body)


def the_job(template: dict[str, Any] = POD, **limits: Any) -> dict[str, Any]:
    pod = a_pod(template)
    made = PodRemedy(pod.template, **limits)
    method, path, body = rendered(CreateJob(ref(JOB, "remedy-1", SYSTEM), an_order(made)))
    assert ("POST", f"/apis/batch/v1/namespaces/{SYSTEM}/jobs") == (method, path)
    return dict(body)


@pytest.mark.parametrize("boot", ["", "boot-1"])
def test_a_job_says_what_its_success_is_worth(boot: str) -> None:
    """For which boot clean-resource was said when it was made; nothing where it was not said."""
    order = replace(an_order(a_pod(POD)), vouches_for=boot)
    _, _, tree = rendered(CreateJob(ref(JOB, "remedy-1", SYSTEM), order))
    found = convert(JOB, {**tree, "metadata": tree["metadata"] | {"uid": "1", "resourceVersion": "1"}})

    assert (boot, "worker-0") == (found.obj.vouches_for, found.obj.node)
    assert bool(boot) == ("node-remedy.dev/vouches-for" in tree["metadata"]["annotations"])


def test_a_job_is_bounded() -> None:
    """In tries, and in how long it is kept; its pod is never restarted in place, nor is there a second beside it."""
    spec = the_job(retries=3, kept=MINUTE * 60)["spec"]

    assert (3, 3_600, "Failed") == (
        spec["backoffLimit"],
        spec["ttlSecondsAfterFinished"],
        spec["podReplacementPolicy"],
    )
    assert "Never" == spec["template"]["spec"]["restartPolicy"]


def test_the_pod_has_the_deadline_and_the_job_a_later_one() -> None:
    """At that of the Job the pod would be deleted, and its log with it: first the kubelet has its turn."""
    spec = the_job(deadline=MINUTE)["spec"]
    own = the_job(deadline=MINUTE, grace=MINUTE * 5)["spec"]

    assert (60, 60 + 30 + 60) == (spec["template"]["spec"]["activeDeadlineSeconds"], spec["activeDeadlineSeconds"])
    assert (60, 60 + 300 + 60) == (own["template"]["spec"]["activeDeadlineSeconds"], own["activeDeadlineSeconds"])


@pytest.mark.parametrize(("told", "grace"), [(5, 5), (0, 0), (None, 30), ("5", 30), (-1, 30), (10**9, 30)], ids=str)
def test_the_grace_of_a_pod_is_its_authors(told: Any, grace: int) -> None:
    """As Kubernetes reads it; what it would refuse is left to it to refuse."""
    template = {"spec": {**POD["spec"], **({} if told is None else {"terminationGracePeriodSeconds": told})}}

    assert Span.seconds(grace) == a_pod(template).grace


def test_what_was_killed_is_not_tried_again() -> None:
    """It ran out of its time; what had to leave the node it ran on did not, and the first rule that fits decides."""
    first, second = the_job()["spec"]["podFailurePolicy"]["rules"]

    assert ("Count", "DisruptionTarget") == (first["action"], first["onPodConditions"][0]["type"])
    assert ("FailJob", "In", [137, 143]) == (second["action"], *second["onExitCodes"].values())


def test_the_seeds_short_words_are_written_out() -> None:
    """env names Secrets, configmaps are mounted; what Kubernetes knows is passed on."""
    spec = the_job()["spec"]["template"]["spec"]
    [container] = spec["containers"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}

    assert [{"secretRef": {"name": "keys"}}] == container["envFrom"]
    assert [{"name": "m"}, {"name": "n"}] == [one["configMap"] for one in spec["volumes"] if "configMap" in one]
    assert {"/etc/node-remedy/configmaps/m", "/etc/node-remedy/configmaps/n"} < set(mounts.values())
    assert set(mounts) == {one["name"] for one in spec["volumes"]}


ROOT: tuple[dict[str, Any], ...] = ({"runAsUser": 0}, {"runAsNonRoot": False})


def with_key(pod: dict[str, Any], container: dict[str, Any]) -> tuple[int, int | None]:
    """The mode of a key's file, and the group that its files belong to."""
    one = {"name": "c", "image": "i", "secrets": ["ssh"], "securityContext": container}
    spec = the_job({"spec": {"containers": [one], "securityContext": pod}})["spec"]["template"]["spec"]
    [secret] = [volume["secret"] for volume in spec["volumes"] if "secret" in volume]
    assert "ssh" == secret["secretName"]
    return secret["defaultMode"], spec["securityContext"].get("fsGroup")


def test_keys_can_be_read_by_whoever_runs() -> None:
    """Files of a Secret are root's: others read them by their group, which ssh allows unless the file is theirs."""
    assert (0o440, 65532) == with_key({}, {})
    assert (0o440, 65532) == with_key({"runAsUser": 1000}, {})
    assert (0o440, 7) == with_key({"fsGroup": 7}, {})
    assert [(0o400, None)] * 4 == [found for one in ROOT for found in (with_key(one, {}), with_key({}, one))]
    assert (0o440, 65532) == with_key({"runAsNonRoot": False, "runAsUser": 1000}, {})


def test_a_pod_is_told_twice() -> None:
    """In its environment, and in annotations that it can read as a file."""
    template = the_job()["spec"]["template"]
    told = {one["name"]: one["value"] for one in template["spec"]["containers"][0]["env"]}
    notes = template["metadata"]["annotations"]

    assert told == {
        key.removeprefix("node-remedy.dev/").replace("-", "_").upper(): value for key, value in notes.items()
    }
    assert ("worker-0", "boot-1", "7", "192.0.2.7,node.example") == (
        *(told[name] for name in ("NODE_NAME", "NODE_BOOT_ID", "TOKEN")),
        told["NODE_ADDRESSES"],
    )
    assert ["metadata.annotations"] == [
        item["fieldRef"]["fieldPath"]
        for one in template["spec"]["volumes"]
        if "downwardAPI" in one
        for item in one["downwardAPI"]["items"]
    ]


def test_pods_are_restricted_unless_their_author_says_otherwise() -> None:
    """Our namespace admits no others; a word of the author wins."""
    usual = the_job()["spec"]["template"]["spec"]
    own = {"name": "c", "image": "i", "securityContext": {"allowPrivilegeEscalation": True}}
    other = the_job({"spec": {"containers": [own], "securityContext": {"runAsUser": 7}}})["spec"]["template"]["spec"]

    restricted = {"runAsNonRoot": True, "fsGroup": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    assert restricted == usual["securityContext"]
    assert [False, True] == [
        one["containers"][0]["securityContext"]["allowPrivilegeEscalation"] for one in (usual, other)
    ]
    assert {"runAsNonRoot": True, "runAsUser": 7} == {
        key: value for key, value in other["securityContext"].items() if key.startswith("runAs")
    }


def test_a_service_account_may_be_named_in_the_old_way() -> None:
    """`serviceAccount` is `serviceAccountName`."""
    pod = {"spec": {**POD["spec"], "serviceAccount": "repairer"}}

    assert "repairer" == the_job(pod)["spec"]["template"]["spec"]["serviceAccountName"]


def test_the_record_is_one_patch_with_the_seeds_annotations() -> None:
    """Guarded by uid and version; the Job's name and the time are what the seed wants to see."""
    method, path, body = rendered(WriteRemedyRecord(NODE_AT, Guard("node-uid-1", "103"), RECORD))
    notes = body["metadata"]["annotations"]

    assert ("PATCH", "/api/v1/nodes/worker-0") == (method, path)
    assert {"uid": "node-uid-1", "resourceVersion": "103"} == {
        key: body["metadata"][key] for key in ("uid", "resourceVersion")
    }
    assert ("j", str(RECORD.at)) == (
        notes["node-remedy.dev/remediation-podname"],
        notes["node-remedy.dev/remediation-timestamp"],
    )
    assert RECORD == read_record(notes["node-remedy.dev/remedy"])


def test_without_a_record_nothing_is_left() -> None:
    """All three annotations go."""
    _, _, body = rendered(WriteRemedyRecord(NODE_AT, Guard("node-uid-1", "103"), None))

    assert {None} == set(body["metadata"]["annotations"].values())
    assert 3 == len(body["metadata"]["annotations"])


@pytest.mark.parametrize("record", [RECORD, None])
def test_when_a_node_was_repaired_stays(record: RemedyRecord | None) -> None:
    """It is written with the record or without one, and never taken off."""
    at = Wall(1_900_000_000_000)
    texts = [
        rendered(WriteRemedyRecord(NODE_AT, Guard("node-uid-1", "103"), record, told))[2]["metadata"]["annotations"]
        for told in (at, None)
    ]

    assert [str(at), "untouched"] == [one.get("node-remedy.dev/remedied-at", "untouched") for one in texts]


def test_a_node_says_when_it_was_repaired() -> None:
    """And since when it is there; garbage is garbage, and neither is brought back by a backup."""
    key = "node-remedy.dev/remedied-at"
    good, bad = (convert(NODE, a_node_tree(annotations={key: text})).obj for text in ("2030-03-17T17:40:00Z", "noon"))
    tree = a_node_tree()
    tree["metadata"]["creationTimestamp"] = "2030-03-17T17:40:00Z"
    born = convert(NODE, tree).obj

    assert [born.created, None] == [good.remedied_at, born.remedied_at]
    assert isinstance(bad.remedied_at, Malformed)
    assert () == good.annotations


def test_a_node_carries_its_record() -> None:
    """As it was written; garbage is garbage, not absent."""
    good, bad = record_text(RECORD), '{"episode": 1}'
    nodes = [convert(NODE, a_node_tree(annotations={"node-remedy.dev/remedy": text})).obj for text in (good, bad)]

    assert RECORD == nodes[0].remedy
    assert isinstance(nodes[1].remedy, Malformed)
    assert convert(NODE, a_node_tree()).obj.remedy is None


@settings(max_examples=50)
@given(
    st.builds(
        RemedyRecord,
        st.text(max_size=8),
        st.text(max_size=8),
        st.text(max_size=8),
        st.just(ago(100)),
        st.integers(0, 9),
        st.text(max_size=8),
        st.sampled_from(Phase),
        st.just(ago(50)),
        st.text(max_size=8),
        st.text(max_size=8),
        st.none() | st.sampled_from(Outcome),
        st.sampled_from(["", "taint", "pods"]),
        st.text(max_size=8),
        st.booleans(),
    )
)
def test_every_record_comes_back(record: RemedyRecord) -> None:
    """What is written is what is read."""
    assert record == read_record(record_text(record))


CONDITIONS = [
    ([], Job("job-uid")),
    ([{"type": "Complete", "status": "True"}], Job("job-uid", JobState.SUCCEEDED)),
    ([{"type": "Complete", "status": "False"}], Job("job-uid")),
    ([{"type": "SuccessCriteriaMet", "status": "True"}], Job("job-uid")),
    (
        [{"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too long"}],
        Job("job-uid", JobState.FAILED, "DeadlineExceeded: too long"),
    ),
]


@pytest.mark.parametrize(("conditions", "job"), CONDITIONS)
def test_how_a_job_stands(conditions: list[dict[str, str]], job: Job) -> None:
    """Only Complete and Failed are ends; whatever comes before them is not."""
    meta = {"name": "j", "namespace": SYSTEM, "uid": "job-uid"}

    assert job == convert(JOB, {"metadata": meta, "status": {"conditions": conditions}}).obj


@pytest.mark.parametrize("guard", [None, Guard("uid-9", "3")])
def test_a_good_document_is_kept_beside_its_owner(guard: Guard | None) -> None:
    """Created, or patched with its guard; owned by the ConfigMap that it was read from."""
    document = Document(Configuration(), "the text")
    at = ref(CONFIG_MAP, "last-good-workers", SYSTEM)
    method, path, body = rendered(KeepDocument(at, guard, "workers", "uid-1", document))

    assert ("POST" if guard is None else "PATCH") == method
    assert path.endswith("/configmaps" if guard is None else "/configmaps/last-good-workers")
    assert ({"config.yaml": "the text"}, ["uid-1"]) == (
        body["data"],
        [one["uid"] for one in body["metadata"]["ownerReferences"]],
    )
    assert (guard is not None) == (body["metadata"].get("resourceVersion") == "3")


def test_limits_have_defaults() -> None:
    """Ten minutes, one more try, a day of logs."""
    found = a_pod(POD)

    assert (MINUTE * 10, 1, Span.seconds(86_400)) == (found.deadline, found.retries, found.kept)


def test_our_records_are_no_annotations_of_the_node() -> None:
    """A backup of the node, or somebody who restores one, must not bring them back."""
    notes = {"node-remedy.dev/remedy": record_text(RECORD), "node-remedy.dev/remediation-podname": "j", "mine": "1"}

    assert (("mine", "1"),) == convert(NODE, a_node_tree(annotations=notes)).obj.annotations
