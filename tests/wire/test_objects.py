"""Bytes of the API to objects: realistic ones, garbage in every field, and refusals that name the object."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import (
    CONSUMER,
    HOST_NAME,
    METAL3_MACHINE_AT,
    NODE_AT,
    NOW,
    PROVIDER_ID,
    a_host_tree,
    a_machine_tree,
    a_metal3_machine_tree,
    a_node_tree,
)

from noderemedy.model.host import Consumer, Hold, Login, MarkName, Power
from noderemedy.model.ids import CONFIG_MAP, HOST, LEASE, MACHINE, METAL3_MACHINE, NODE, OPENSHIFT_MACHINE, Kind, Ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import HostName, Metal3Machine
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.node import Condition, Node, Taint
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Mono, Wall
from noderemedy.wire.objects import READERS, Undecodable, convert, decode, decode_event

TIME = "2030-01-01T00:00:00Z"
TREES: dict[Kind, dict[str, Any]] = {
    NODE: a_node_tree(),
    MACHINE: a_machine_tree(),
    OPENSHIFT_MACHINE: a_machine_tree(),
    METAL3_MACHINE: a_metal3_machine_tree(),
    HOST: a_host_tree(),
}


def a_big_node() -> dict[str, Any]:
    """A node as kubelet keeps it: images, addresses, capacity, five conditions with heartbeats; about 14 KB."""
    tree = a_node_tree(
        labels={f"feature.node.kubernetes.io/cpu-{n}": "true" for n in range(60)},
        annotations={"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        spec={
            "podCIDR": "10.0.1.0/24",
            "taints": [
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": TIME},
                {"key": "dedicated", "value": "gpu", "effect": "NoExecute"},
            ],
            "unschedulable": True,
        },
    )
    fields: dict[str, Any] = {"f:status": {f"f:{n}": {} for n in range(99)}}
    tree["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": fields}]
    tree["status"]["conditions"] = [
        {
            "type": name,
            "status": "False",
            "reason": f"KubeletHasNo{name}",
            "message": "kubelet has sufficient of it",
            "lastHeartbeatTime": "2030-03-17T17:46:30Z",
            "lastTransitionTime": "2030-03-01T00:00:00Z",
        }
        for name in ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable", "Ready")
    ]
    tree["status"]["images"] = [
        {"names": [f"registry.example/some/image@sha256:{n:064d}", f"registry.example/some/image:v{n}"], "sizeBytes": n}
        for n in range(60)
    ]
    tree["status"]["nodeInfo"] = {"bootID": "boot-1", "kernelVersion": "6.1", "machineID": "x", "systemUUID": "y"}
    return tree


def test_a_big_node_is_read() -> None:
    """Of 14 KB the fields that rooms judge by are kept, sorted; heartbeats, images and the rest are not."""
    raw = json.dumps(a_big_node()).encode()
    assert 12_000 < len(raw) < 20_000

    seen = decode(NODE, raw)

    node = seen.obj
    assert (NODE_AT, "node-uid-1", "103") == (seen.ref, seen.uid, seen.resource_version)
    assert ("node-uid-1", "boot-1", PROVIDER_ID, True) == (node.uid, node.boot_id, node.provider_id, node.unschedulable)
    assert (61, list(node.labels)) == (len(node.labels), sorted(node.labels))
    assert (
        Taint("dedicated", "NoExecute", "gpu"),
        Taint("node.kubernetes.io/unschedulable", "NoSchedule"),
    ) == node.taints
    assert Condition("Ready", "False", Wall(1_898_553_600_000), "KubeletHasNoReady") == node.conditions[-1]


def test_a_heartbeat_decodes_to_an_equal_object() -> None:
    """Only version and heartbeat differ: the object is the same, so nobody is woken."""
    one = convert(NODE, a_node_tree(version="1", heartbeat="2030-03-17T17:46:30Z"))
    other = convert(NODE, a_node_tree(version="2", heartbeat="2030-03-17T17:46:40Z"))

    assert one.obj == other.obj
    assert one != other


def test_bytes_and_trees_are_read_alike() -> None:
    """Files and the simulated API in process go the same way as the bytes of a watch."""
    for kind, tree in TREES.items():
        assert unstamped(decode(kind, json.dumps(tree).encode())) == convert(kind, tree)


def test_words_that_repeat_are_kept_once() -> None:
    """Types, statuses and reasons of conditions are the same few words on every node."""
    one, other = (decode(NODE, json.dumps(a_big_node()).encode()).obj.conditions[0] for _ in range(2))

    assert one.type is other.type
    assert one.reason is other.reason


def test_labels_of_many_nodes_share_their_words() -> None:
    """Keys and values of labels are one string each, however many nodes carry them."""
    one, other = (
        decode(NODE, json.dumps(a_node_tree(name, labels={"example.com/rack": "rack-17"})).encode()).obj
        for name in ("worker-1", "worker-2")
    )

    assert all(mine is theirs for mine, theirs in zip(one.labels[0], other.labels[0], strict=True))


DEEP = '{"nodeUid":"x","z":' + "[" * 100_000  # what we do not know is skipped, but how deep?


# --- machines ------------------------------------------------------------------------------------------------


def test_a_machine_is_read() -> None:
    """Host, node and providerID; nothing asked for, nothing stored, nothing paused."""
    machine = convert(MACHINE, a_machine_tree()).obj

    assert ("machine-uid-1", HOST_NAME, "worker-0", PROVIDER_ID) == (
        machine.uid,
        machine.host,
        machine.node_name,
        machine.provider_id,
    )
    assert (False, None, None, False, None, False) == (
        machine.needs_remediation,
        machine.backup,
        machine.node_deleted_at,
        machine.cluster_paused,
        machine.paused,
        machine.deleting,
    )


@pytest.mark.parametrize("value", ["", "true", "false", "anything"])
def test_the_request_counts_by_its_presence(value: str) -> None:
    """Seed 001: the annotation is there or it is not; its value means nothing."""
    tree = a_machine_tree(annotations={"host.metal3.io/external-remediation": value})

    assert convert(MACHINE, tree).obj.needs_remediation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("metal/rack1-u07", HOST_NAME),
        (" metal/rack1-u07 ", HOST_NAME),
        ("rack1-u07", HOST_NAME),
        ("other/h", HostName("other", "h")),
        ("a/b/c", Malformed("'a/b/c' is not namespace/name")),
        ("/b", Malformed("'/b' is not namespace/name")),
        ("a/", Malformed("'a/' is not namespace/name")),
        ("", Malformed("'' is not namespace/name")),
        ("x" * 500, HostName("metal", "x" * 500)),
    ],
)
def test_the_hosts_name_is_read_or_refused(text: str, expected: object) -> None:
    """`namespace/name`, or a bare name in the Machine's namespace; garbage is not the same as absent."""
    tree = a_machine_tree(host=None, annotations={"metal3.io/BareMetalHost": text})

    assert expected == convert(MACHINE, tree).obj.host


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", Paused()),
        ("TRUE", Paused()),
        ("", Paused()),
        ("false", None),
        (" False ", None),
        ("2030-03-17T17:46:40Z", Paused(NOW.wall)),
        ("2030-03-17T18:46:40+01:00", Paused(NOW.wall)),
        ("2030-03-17T17:46:40", Paused(NOW.wall)),
        ("maybe", Malformed("'maybe' is not a time like 2030-01-31T12:00:00Z")),
        ("1", Malformed("'1' is not a time like 2030-01-31T12:00:00Z")),
        ("2030-02-31T00:00:00Z", Malformed("'2030-02-31T00:00:00Z' is not a time like 2030-01-31T12:00:00Z")),
    ],
)
def test_a_pause_is_read_or_refused(text: str, expected: object) -> None:
    """For as long as it is there, until a time, or lifted; anything else is Malformed, which counts as a pause."""
    assert expected == convert(MACHINE, a_machine_tree(annotations={"node-remedy.dev/paused": text})).obj.paused


UNREADABLE = ["", "null", "[]", "{}", "{", '{"nodeUid":1}', '{"nodeUid":"x","labels":[]}', "\x00", DEEP]


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_backup_that_cannot_be_read_is_malformed(text: str) -> None:
    """Never the same as absent: somebody's labels are in there."""
    tree = a_machine_tree(annotations={"remediation.metal3.io/node-backup": text})

    assert isinstance(convert(MACHINE, tree).obj.backup, Malformed)


def test_a_backup_of_a_later_version_is_read() -> None:
    """Fields that we do not know yet are skipped: a downgrade in the middle of a repair goes on."""
    text = '{"nodeUid":"n","labels":{"a":"b"},"futureField":{"x":1}}'
    tree = a_machine_tree(annotations={"remediation.metal3.io/node-backup": text})

    assert (("a", "b"),) == convert(MACHINE, tree).obj.backup.labels


def test_a_wish_for_a_repair_is_no_annotation_of_the_node() -> None:
    """It was for the Node that this repair takes away: from a backup it would be written again, and be refused."""
    node = convert(NODE, a_node_tree(annotations={"node-remedy.dev/repair": "", "mine": "1"})).obj

    assert (True, (("mine", "1"),)) == (node.repair_now, node.annotations)


def test_a_backup_of_an_older_version_gives_back_no_wish_and_no_record_of_ours() -> None:
    """It was written with them; the manager may not write the one, and the other is about the former Node."""
    notes = {"node-remedy.dev/repair": "", "node-remedy.dev/remedy": "{}", "mine": "1"}
    text = json.dumps({"nodeUid": "n", "labels": {}, "annotations": notes})
    tree = a_machine_tree(annotations={"remediation.metal3.io/node-backup": text})

    assert (("mine", "1"),) == convert(MACHINE, tree).obj.backup.annotations


@pytest.mark.parametrize("text", ["", "yesterday", "17", "2030-13-01T00:00:00Z"])
def test_a_time_of_deletion_that_cannot_be_read_is_malformed(text: str) -> None:
    """It is kept as what it is: unreadable."""
    tree = a_machine_tree(annotations={"remediation.metal3.io/node-deleted-at": text})

    assert isinstance(convert(MACHINE, tree).obj.node_deleted_at, Malformed)


def test_other_marks_of_a_machine_are_read() -> None:
    """Paused by its cluster, without a node, on its way out."""
    tree = a_machine_tree(node_name=None, annotations={"cluster.x-k8s.io/paused": ""})
    tree["metadata"]["deletionTimestamp"] = "2030-03-17T17:46:40Z"
    tree["spec"] = None

    machine = convert(MACHINE, tree).obj

    assert (True, None, True, "") == (machine.cluster_paused, machine.node_name, machine.deleting, machine.provider_id)


def test_the_owner_of_a_metal3_machine_is_read() -> None:
    """By name and uid, of kind Machine; other owners do not count."""
    tree = a_metal3_machine_tree()
    tree["metadata"]["ownerReferences"].insert(0, {"kind": "Cluster", "name": "metal", "uid": "c"})

    seen = convert(METAL3_MACHINE, tree)

    assert (METAL3_MACHINE_AT, Metal3Machine("m3m-uid-1", "worker-0", "machine-uid-1")) == (seen.ref, seen.obj)
    del tree["metadata"]["ownerReferences"]
    assert Metal3Machine("m3m-uid-1", None, "") == convert(METAL3_MACHINE, tree).obj


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("racks/h1", HostName("racks", "h1")),
        ("h1", HostName("metal", "h1")),
        ("a/b/c", Malformed("'a/b/c' is not namespace/name")),
        ("", Malformed("'' is not namespace/name")),
    ],
)
def test_the_host_of_a_metal3_machine_is_read(text: str, host: HostName | Malformed) -> None:
    """Metal3's provider for Cluster API writes it there, and not to the Machine."""
    tree = a_metal3_machine_tree()
    tree["metadata"]["annotations"] = {"metal3.io/BareMetalHost": text}

    assert host == convert(METAL3_MACHINE, tree).obj.host


# --- hosts ---------------------------------------------------------------------------------------------------


def test_a_host_is_read() -> None:
    """On, not held, consumed by its Machine, looked after."""
    host = convert(HOST, a_host_tree()).obj

    assert ("host-uid-1", True, Power.ON, False, None, CONSUMER) == (
        host.uid,
        host.online,
        host.power,
        host.held,
        host.hold,
        host.consumer,
    )
    assert (False, False, False, "", False) == (
        host.paused,
        host.detached,
        host.power_off_disabled,
        host.error,
        host.deleting,
    )


@pytest.mark.parametrize(
    ("status", "power"),
    [
        ({"poweredOn": True}, Power.ON),
        ({"poweredOn": False}, Power.OFF),
        ({"poweredOn": None}, Power.UNKNOWN),
        ({}, Power.UNKNOWN),
        (None, Power.UNKNOWN),
    ],
)
def test_silence_about_power_is_unknown(status: Any, power: Power) -> None:
    """Only a plain false is off."""
    assert power == convert(HOST, {**a_host_tree(), "status": status}).obj.power


@pytest.mark.parametrize(
    ("status", "state", "is_settled"),
    [
        ({"provisioning": {"state": "provisioned"}}, "provisioned", True),
        ({"provisioning": {"state": "externally provisioned"}}, "externally provisioned", True),
        ({"provisioning": {"state": "deprovisioning"}}, "deprovisioning", False),
        ({"provisioning": {}}, "", False),
        ({}, "", False),
        (None, "", False),
        ({"provisioning": {"state": "provisioned"}, "operationalStatus": "servicing"}, "provisioned", False),
    ],
)
def test_where_in_its_life_a_host_is(status: Any, state: str, is_settled: bool) -> None:
    """What is not said is not settled: only there a hold is followed and power is read."""
    host = convert(HOST, {**a_host_tree(), "status": status}).obj

    assert (state, is_settled) == (host.state, not host.unsettled)


SOFT, HARD = "", '{"mode":"hard"}'
ASKED = {
    "nobody": ({}, ""),
    "plainly": ({"reboot.metal3.io": SOFT}, "reboot.metal3.io"),
    "plainly, hard": ({"reboot.metal3.io": HARD}, ""),
    "with a key": ({"reboot.metal3.io/somebody": '{"mode":"soft"}'}, "reboot.metal3.io/somebody"),
    "with a key, hard": ({"reboot.metal3.io/somebody": HARD}, ""),
    "garbage": ({"reboot.metal3.io/somebody": "{"}, "reboot.metal3.io/somebody"),
    "one of two": ({"reboot.metal3.io/a": HARD, "reboot.metal3.io/b": SOFT}, "reboot.metal3.io/b"),
    "we, with any value": ({"reboot.metal3.io/machine-remediation": SOFT}, ""),
    "a Metal3Remediation": ({"reboot.metal3.io/metal3-remediation-uid-1": SOFT}, ""),
    "a fence of ours": ({"reboot.metal3.io/node-fence-uid-1": SOFT}, ""),
    "another annotation": ({"reboot.metal3.io.example": SOFT}, ""),
}


@pytest.mark.parametrize(("notes", "key"), ASKED.values(), ids=ASKED)
def test_who_asks_for_a_soft_shutdown(notes: dict[str, str], key: str) -> None:
    """Everything but a plain "hard" is soft, as the operator reads it; what is ours is hard."""
    assert key == convert(HOST, a_host_tree(annotations=notes)).obj.soft_reboot


def test_a_host_of_somebody_else_is_read() -> None:
    """A Metal3Machine as consumer, without group and namespace; no consumer at all."""
    reference = {"kind": "Metal3Machine", "name": "m", "apiVersion": "v1"}

    assert (
        Consumer("Metal3Machine", "", "m", "")
        == convert(HOST, a_host_tree(spec={"consumerRef": reference})).obj.consumer
    )
    assert convert(HOST, a_host_tree(spec={"consumerRef": None})).obj.consumer is None


def test_marks_of_a_host_are_read() -> None:
    """Paused, detached in both ways, never powered off, switched off on purpose, with an error."""
    notes = {"baremetalhost.metal3.io/paused": "", "baremetalhost.metal3.io/detached": ""}
    marked = a_host_tree(annotations=notes, spec={"online": False, "disablePowerOff": True})
    detached = a_host_tree()
    detached["status"] = {
        "operationalStatus": "detached",
        "errorType": "power management error",
        "errorMessage": "no BMC",
    }

    host, other = convert(HOST, marked).obj, convert(HOST, detached).obj

    assert (True, True, False, True) == (host.paused, host.detached, host.online, host.power_off_disabled)
    assert (True, "power management error: no BMC") == (other.detached, other.error)


@pytest.mark.parametrize(("spec", "told"), [({}, False), ({"externallyProvisioned": True}, True)])
def test_a_host_says_whether_somebody_else_installed_it(spec: dict[str, Any], told: bool) -> None:
    """By its spec; where that says nothing, its provider did."""
    assert told == convert(HOST, a_host_tree(spec=spec)).obj.externally_provisioned


@pytest.mark.parametrize(
    ("notes", "marks"),
    [
        ({}, ()),
        ({"capm3.metal3.io/unhealthy": "capm3/UnhealthyNode"}, ((MarkName.CURRENT, "capm3/UnhealthyNode"),)),
        ({"capi.metal3.io/unhealthy": ""}, ((MarkName.BEFORE, ""),)),
        (
            {"capi.metal3.io/unhealthy": "older", "capm3.metal3.io/unhealthy": "current"},
            ((MarkName.CURRENT, "current"), (MarkName.BEFORE, "older")),
        ),
    ],
)
def test_the_mark_of_an_unhealthy_host_has_two_names(notes: dict[str, str], marks: tuple[Any, ...]) -> None:
    """The one that providers read today, and the one that those of before read: each says who set it."""
    assert marks == convert(HOST, a_host_tree(annotations=notes)).obj.unhealthy


def shown(name: str = "bmc-0", version: str = "7") -> dict[str, Any]:
    return {"credentials": {"name": name, "namespace": "metal3"}, "credentialsVersion": version}


@pytest.mark.parametrize(
    ("status", "login"),
    [
        ({"goodCredentials": shown(), "triedCredentials": shown()}, Login.ACCEPTED),
        ({"goodCredentials": shown()}, Login.ACCEPTED),
        ({"goodCredentials": shown(version="6"), "triedCredentials": shown()}, Login.REFUSED),
        ({"goodCredentials": {}, "triedCredentials": shown()}, Login.REFUSED),
        ({"goodCredentials": shown("old"), "triedCredentials": shown("old")}, Login.REFUSED),
        ({"goodCredentials": {}}, Login.UNTOLD),
        ({"goodCredentials": None}, Login.UNTOLD),
        ({}, Login.UNTOLD),
    ],
)
def test_what_a_host_says_of_its_credentials(status: dict[str, Any], login: Login) -> None:
    """Accepted are those that were tried last, if the host still names them."""
    tree = a_host_tree(spec={"bmc": {"address": "ipmi://192.0.2.7", "credentialsName": "bmc-0"}})

    host = convert(HOST, {**tree, "status": {"operationalStatus": "OK", **status}}).obj

    assert ("OK", login, "bmc-0") == (host.status, host.login, host.login_secret)


def test_only_our_own_key_is_a_hold() -> None:
    """Other clients' reboot annotations are theirs; the record alone holds nothing."""
    theirs = a_host_tree(annotations={"reboot.metal3.io/somebody": "", "reboot.metal3.io": ""})
    record = a_host_tree(
        annotations={"remediation.metal3.io/hold": '{"machineUid":"m","since":"2030-03-17T17:46:40Z"}'}
    )
    ours = a_host_tree(annotations={"reboot.metal3.io/machine-remediation": ""})

    assert [False, False, True] == [convert(HOST, tree).obj.held for tree in (theirs, record, ours)]
    assert Hold("m", NOW.wall) == convert(HOST, record).obj.hold


def test_what_was_seen_of_a_held_host_is_in_its_record() -> None:
    """When it was off with its node still heard, that the node contradicted it, and when it was on again."""
    seen = '"offAt":"2030-03-17T17:46:40Z","contradictedAt":"2030-03-17T17:46:40Z","onAt":"2030-03-17T17:46:40Z"'
    text = f'{{"machineUid":"m","since":"2030-03-17T17:46:40Z","nodeUid":"n","bootID":"b",{seen}}}'
    host = convert(HOST, a_host_tree(annotations={"remediation.metal3.io/hold": text})).obj

    assert Hold("m", NOW.wall, "n", "b", off_at=NOW.wall, contradicted_at=NOW.wall, on_at=NOW.wall) == host.hold


@pytest.mark.parametrize("text", ["", "true", "{}", '{"machineUid":"m"}', '{"machineUid":"m","since":"noon"}'])
def test_a_hold_that_cannot_be_read_is_malformed(text: str) -> None:
    """Held all the same: the record only says for whom and since when."""
    notes = {"reboot.metal3.io/machine-remediation": "", "remediation.metal3.io/hold": text}

    host = convert(HOST, a_host_tree(annotations=notes)).obj

    assert host.held
    assert isinstance(host.hold, Malformed)


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ({"metadata": {"name": "a", "uid": "u"}, "data": {"b": "c", "d.e": 17}}, "data.d.e: a number where a text is "),
        ({"metadata": {"name": "a", "uid": "u"}, "data": {"d.e": True}}, "data.d.e: true or false where a text is exp"),
        ({"metadata": {"name": 5, "uid": "u"}}, "metadata.name: a number where a text is expected; write it in quotes"),
        ({"spec": {}}, "metadata: it is missing; write it"),
        ({"metadata": {"uid": "u"}}, "metadata.name: it is missing; write it"),
        (7, "a number where an object is expected; write an object"),
    ],
)
def test_what_cannot_be_read_is_told_in_the_words_of_people(tree: Any, problem: str) -> None:
    """With the key itself, and what to write."""
    with pytest.raises(Undecodable) as refusal:
        convert(CONFIG_MAP, tree)

    assert refusal.value.problem.startswith(problem)


# --- garbage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "path", "field"),
    [
        (NODE, ("metadata", "labels"), "metadata.labels: a text where an object is expected; write an object"),
        (NODE, ("spec", "taints"), "spec.taints: a text where a list is expected; write a list"),
        (NODE, ("status", "conditions"), "status.conditions: a text where a list is expected; write a list"),
        (MACHINE, ("status", "nodeRef"), "status.nodeRef: a text where an object is expected; write an object"),
        (HOST, ("status", "poweredOn"), "status.poweredOn: a text where true or false is expected; write true or"),
        (HOST, ("spec", "consumerRef"), "spec.consumerRef: a text where an object is expected; write an object"),
    ],
)
def test_a_refusal_names_the_object_and_the_field(kind: Kind, path: tuple[str, str], field: str) -> None:
    """Whoever reads it knows what to mend, and where."""
    tree = json.loads(json.dumps(TREES[kind]))
    tree[path[0]][path[1]] = "garbage"

    with pytest.raises(Undecodable) as refusal:
        convert(kind, tree)

    metadata = tree["metadata"]
    assert refusal.value.problem.startswith(field)
    assert metadata["name"] == refusal.value.ref.name
    assert (metadata["uid"], metadata["resourceVersion"]) == (refusal.value.uid, refusal.value.resource_version)
    assert metadata["name"] in str(refusal.value)


NO_OBJECTS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"{}",
    b'{"metadata":[]}',
    b'{"metadata":null}',
    b"\xff",
    b'{"metadata":{"name":"\xff"}}',
    b'{"metadata":{"name":"\\ud800"}}',
    b"[" * 100_000,
    b'{"metadata":{"name":"x"},"deep":' + b'{"a":' * 100_000,
    b'{"metadata":{"name":"x"},"spec":' + b"[" * 50_000 + b"]" * 50_000 + b"}",  # deeper than the API itself allows
]


@pytest.mark.parametrize("raw", NO_OBJECTS, ids=range(len(NO_OBJECTS)))
def test_bytes_that_are_no_object_are_refused(raw: bytes) -> None:
    """Even what has no name is refused in an orderly way."""
    for kind in READERS:
        with pytest.raises(Undecodable):
            decode(kind, raw)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.just(TIME),
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)


def paths(tree: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a tree."""
    items = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    return [here, *(path for name, inner in items for path in paths(inner, (*here, name)))]


def full(kind: Kind) -> dict[str, Any]:
    """A tree in which every field that we read is there."""
    tree: dict[str, Any] = json.loads(json.dumps(TREES[kind]))
    tree["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    notes = tree["metadata"].setdefault("annotations", {})
    for name in (
        "metal3.io/BareMetalHost",
        "node-remedy.dev/paused",
        "remediation.metal3.io/hold",
        "remediation.metal3.io/node-backup",
        "remediation.metal3.io/node-deleted-at",
        "reboot.metal3.io/machine-remediation",
    ):
        notes[name] = "metal/x"
    if kind == NODE:
        tree["spec"]["taints"] = [{"key": "a", "effect": "NoSchedule", "value": "b"}]
    return tree


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    tree[path[0]] = put(tree[path[0]], path[1:], value)
    return tree


def seen_or_refused(kind: Kind, tree: Any) -> None:
    """The whole contract of the decoder."""
    try:
        raw = msgspec.json.encode(tree)
    except (UnicodeEncodeError, OverflowError):
        return  # no API can send that
    with suppress(Undecodable):
        assert isinstance(convert(kind, tree).obj, READERS_OF[kind])
    with suppress(Undecodable):
        assert isinstance(decode(kind, raw).obj, READERS_OF[kind])


READERS_OF = {kind: type(convert(kind, tree).obj) for kind, tree in TREES.items()}


@given(st.sampled_from(list(TREES)), st.data())
def test_garbage_in_any_field_is_seen_or_refused(kind: Kind, data: st.DataObject) -> None:
    """Whatever stands in whichever place: an object, or a refusal, and never any other error."""
    tree = full(kind)
    path = data.draw(st.sampled_from(paths(tree)))

    seen_or_refused(kind, put(tree, path, data.draw(trees)))


@given(st.sampled_from(list(TREES)), st.text(), st.sampled_from(sorted(full(NODE)["metadata"]["annotations"])))
def test_any_text_in_an_annotation_is_read(kind: Kind, text: str, name: str) -> None:
    """Our annotations are anybody's to edit: no text makes the object unreadable."""
    tree = full(kind)
    tree["metadata"]["annotations"][name] = text

    assert isinstance(convert(kind, tree), Seen)


@given(st.sampled_from(list(TREES)), st.binary(max_size=40))
def test_any_bytes_are_seen_or_refused(kind: Kind, raw: bytes) -> None:
    """Also what is no JSON and no text."""
    with suppress(Undecodable):
        assert isinstance(decode(kind, raw), Seen)


@pytest.mark.parametrize("key", [None, True, 1, 1.5, ("a", "b")])
def test_a_tree_from_a_file_may_have_strange_keys(key: Any) -> None:
    """YAML allows keys that JSON does not: such an object is refused, not crashed on."""
    for kind in TREES:
        tree = full(kind)
        tree["metadata"]["labels"] = {key: "x"}
        with pytest.raises(Undecodable):
            convert(kind, tree)


def test_what_we_do_not_know_of_a_tree_is_not_looked_at() -> None:
    """Files may nest as they like, where we read nothing."""
    deep: Any = "x"
    for _ in range(5_000):
        deep = {"nodeInfo": deep}

    assert isinstance(convert(NODE, {**a_node_tree(), "spec": deep}), Seen)


def test_a_refusal_shows_no_secrets() -> None:
    """A refusal names field and type, never the value that was found there."""
    tree = a_host_tree()
    tree["spec"]["bmc"] = {"credentialsName": "bmc-secret"}
    tree["status"]["poweredOn"] = "hunter2"

    with pytest.raises(Undecodable) as refusal:
        convert(HOST, tree)

    assert "hunter2" not in str(refusal.value)
    assert "bmc-secret" not in str(refusal.value)


# --- lines of a watch --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TREES, ids=str)
@pytest.mark.parametrize("happened", ["ADDED", "MODIFIED", "DELETED"])
def test_an_event_is_read_in_one_pass(kind: Kind, happened: str) -> None:
    """Envelope and object together give what they give one after the other."""
    raw = json.dumps(TREES[kind]).encode()
    line = b'{"type":"%s","object":%s}' % (happened.encode(), raw)

    found = decode_event(kind, line, "a/b")
    assert found is not None
    assert (happened, decode(kind, raw, "a/b")) == found


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"12"}}}',
        b'{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}',
        b'{"kind":"Status","code":410,"message":"too old"}',
        b'{"type":"MODIFIED","object":{"metadata":{"name":5}}}',
        b'{"type":"MODIFIED","object":{"metadata":{"na',
        b'{"type":"MODIFIED","object":' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        b"\xff",
        b"",
    ],
)
def test_other_lines_are_left_to_a_closer_look(line: bytes) -> None:
    """Whatever is not an ordinary event with a readable object is not decided in passing."""
    assert None is decode_event(NODE, line)


def test_the_same_condition_is_kept_once() -> None:
    """A heartbeat that says what was said before makes nothing new of its conditions."""
    one, other = (convert(NODE, a_big_node()).obj for _ in range(2))

    assert one.conditions
    assert all(first is second for first, second in zip(one.conditions, other.conditions, strict=True))


def a_line(tree: dict[str, Any]) -> bytes:
    """The line of a watch, with its maps in the order in which API servers send them."""
    return msgspec.json.encode({"type": "MODIFIED", "object": tree}, order="sorted")


def unstamped(seen: Seen) -> Seen:
    return replace(seen, stamp=None)


def met(tree: dict[str, Any], known: Seen | None = None) -> Seen:
    """A Node as a watch shows it to somebody who knows this one."""

    def remembered(at: Ref) -> Present | None:
        here = known if known and known.ref == at else None
        return Present(here.obj, here.resource_version, Mono(0), stamp=here.stamp) if here else None

    found = decode_event(NODE, a_line(tree), known=remembered)
    assert found is not None
    return found[1]


def test_a_heartbeat_is_the_very_object_that_is_known() -> None:
    """A Node that says the same again is not made again, at its new version; also one with taints and records."""
    taints = [{"key": "b", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute", "value": "1"}]
    notes = {"a": "1", "node-remedy.dev/out-of-service-by": "room request uid boot"}
    rest: dict[str, Any] = {"annotations": notes, "spec": {"taints": taints}}
    known = met(a_node_tree(version="1", **rest))
    tree = a_node_tree(version="2", heartbeat="2030-03-17T17:46:40Z", **rest)
    found = met(tree, known)
    assert (convert(NODE, tree), True) == (unstamped(found), found.obj is known.obj)


def test_another_node_is_no_heartbeat_of_this_one() -> None:
    """Only what is remembered under the name of a Node is compared with it."""
    known = met(a_node_tree(name="other", version="1"))
    assert met(a_node_tree(version="2"), known).obj is not known.obj


def test_a_heartbeat_after_a_live_read_is_the_very_object_that_is_known() -> None:
    """A Node that was read by itself has the stamp that a watch would give it."""
    known = decode(NODE, msgspec.json.encode(a_node_tree(version="1"), order="sorted"))
    tree = a_node_tree(version="2", heartbeat="2030-03-17T17:46:40Z")
    assert met(tree, known).obj is known.obj


def test_what_has_no_stamp_is_read_once_more() -> None:
    """What was made of a tree has none: the next heartbeat is compared as a whole, and has one."""
    tree = a_node_tree(version="1")
    known = convert(NODE, tree)
    found = met(tree, known)
    assert (True, False, True) == (found.obj == known.obj, found.obj is known.obj, found.stamp is not None)


@pytest.mark.parametrize(
    "changes",
    [
        {"uid": "node-uid-2"},
        {"labels": {"rack": "r1"}},
        {"annotations": {"node-remedy.dev/paused": "true"}},
        {"spec": {"unschedulable": True}},
        {"spec": {"providerID": "metal3://other"}},
        {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
        {"status": {"nodeInfo": {"bootID": "boot-2"}}},
        {"status": {"nodeInfo": {"kubeletVersion": "v1.30.0", "bootID": "boot-1"}}},
        {"status": {"nodeInfo": {"systemUUID": "other", "bootID": "boot-1"}}},
        {"status": {"conditions": []}},
        {"status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.7"}]}},
        {"annotations": {"node-remedy.dev/out-of-service-by": "room request uid boot"}},
        {"status": None},
        {"deletionTimestamp": "2030-03-17T17:46:40Z"},
    ],
    ids=str,
)
def test_a_node_that_says_something_else_is_made_anew(changes: dict[str, Any]) -> None:
    """Whatever is judged by and differs from what is known is seen, also in a line that looks like a heartbeat."""
    known = met(a_node_tree(version="1"))
    arguments = {key: value for key, value in changes.items() if key not in ("status", "deletionTimestamp")}
    tree = a_node_tree(version="2", **arguments)
    if "status" in changes:
        tree["status"] = {**tree["status"], **changes["status"]} if changes["status"] is not None else {}
    if "deletionTimestamp" in changes:
        tree["metadata"]["deletionTimestamp"] = changes["deletionTimestamp"]
    found = met(tree, known)
    assert (convert(NODE, tree), False) == (unstamped(found), found.obj == known.obj)


def test_other_wrong_devices_are_seen() -> None:
    """Nothing but the message of our own condition tells that another device is not the node's."""

    def tree(version: str, device: str) -> dict[str, Any]:
        words = f"not its plug (wrong: device {device})"
        told = {"type": "FencingReady", "status": "False", "reason": "WrongDevice", "message": words}
        return {**a_node_tree(version=version), "status": {"conditions": [told]}}

    known = met(tree("1", "0a"))
    assert [("0a",), ("0b",)] == [one.obj.conditions[0].wrong for one in (known, met(tree("2", "0b"), known))]


def test_a_taint_that_goes_is_seen() -> None:
    """A Node without the taint that is known of it is no heartbeat."""
    known = met(a_node_tree(version="1", spec={"taints": [{"key": "k", "effect": "NoSchedule"}]}))
    assert () == met(a_node_tree(version="2"), known).obj.taints


@pytest.mark.parametrize(
    ("uid", "version", "is_known"), [("u", "7", True), ("u", "8", False), ("other", "7", False), ("u", "", False)]
)
def test_what_the_answer_to_a_write_has_shown_is_not_made_again(uid: str, version: str, is_known: bool) -> None:
    """The very version of the very object that is known, and no other: also not one whose version is not told."""
    meta = {"name": "a", "namespace": "b", "uid": uid, "resourceVersion": version}
    tree = {"metadata": meta, "spec": {"holderIdentity": "me"}}
    known = Present(Lease("u", "me"), "7" if version else "", Mono(0))
    found = decode_event(LEASE, a_line(tree), known=lambda at: known)
    assert found is not None
    assert (convert(LEASE, tree).ref, version, is_known) == (
        found[1].ref,
        found[1].resource_version,
        found[1].obj is known.obj,
    )


def test_what_many_nodes_say_is_kept_once() -> None:
    """Labels, annotations and taints that are the same on many nodes are the very same objects: memory is per node."""
    taint = {"key": "node-role.example/edge", "effect": "NoSchedule"}
    lines = [
        a_line(a_node_tree(labels={"a": "same"}, annotations={"b": "same"}, spec={"taints": [taint]})) for _ in range(2)
    ]
    one, other = [found[1].obj for line in lines if (found := decode_event(NODE, line))]
    assert [True] * 3 == [
        one.labels[0] is other.labels[0],
        one.annotations[0] is other.annotations[0],
        one.taints[0] is other.taints[0],
    ]


def test_every_field_of_a_node_is_compared() -> None:
    """A new field has to be thought of in `heartbeats.stamp`, or its changes would pass for heartbeats."""
    from_annotations = {"annotations", "repair_now", "paused", "remedy", "remedied_at", "out_of_service"}
    from_status = {"boot_id", "kubelet", "system_uuid", "conditions", "addresses"}
    from_the_rest = {"uid", "deleting", "labels", "provider_id", "unschedulable", "taints"}
    from_the_uid = {"created"}  # the API never changes it
    assert from_annotations | from_status | from_the_rest | from_the_uid == set(Node.__struct_fields__)
