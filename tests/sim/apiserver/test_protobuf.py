"""Protobuf bodies of built-in kinds, as typed Go clients write them."""

from __future__ import annotations

import pytest
from tests.sim.apiserver.support import ask, tree_of

from noderemedy.sim.apiserver import ApiError, ApiServer
from noderemedy.sim.apiserver.protobuf import MAGIC, decode_protobuf

KIND = "application/vnd.kubernetes.protobuf"
BY_KUBECTL = bytes.fromhex(
    "6b3873000a0f0a02763112094e616d657370616365121b0a130a03666f6f12001a0022002a0032003800420012001a020a001a002200"
)
"""What `kubectl create namespace foo` sent."""


def part(number: int, value: bytes | str | int) -> bytes:
    """One field: a text or message by its length, a number as it is."""
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def envelope(api_version: str, kind: str, message: bytes) -> bytes:
    return MAGIC + part(1, part(1, api_version) + part(2, kind)) + part(2, message)


def test_kubectl_creates_a_namespace(server: ApiServer) -> None:
    """The bytes of a stock kubectl make the namespace."""
    page = ask(server, "POST", "/api/v1/namespaces", BY_KUBECTL, KIND)
    assert (201, "foo", "Active") == (
        page.status,
        tree_of(page)["metadata"]["name"],
        tree_of(page)["status"]["phase"],
    )


def test_every_kind_of_value() -> None:
    """Texts, numbers, maps, lists, times, quantities, bytes, inlined and wrapped values are read."""
    meta = part(1, "p") + part(11, part(1, "a") + part(2, "b")) + part(14, "x/y") + part(8, part(1, 1_700_000_000))
    limit = part(1, part(1, "cpu") + part(2, part(1, "500m")))
    get = part(1, "/") + part(2, part(1, 0) + part(2, 8080)) + part(3, "")
    probe = part(1, part(2, get)) + part(2, 5)
    container = part(1, "main") + part(8, limit) + part(10, probe)
    volume = part(1, "v") + part(2, part(2, b""))
    spec = part(1, volume) + part(2, container) + part(4, -1) + part(11, 1)
    pod = decode_protobuf(envelope("v1", "Pod", part(1, meta) + part(2, spec)))
    expected = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "labels": {"a": "b"},
            "finalizers": ["x/y"],
            "creationTimestamp": "2023-11-14T22:13:20Z",
        },
        "spec": {
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [
                {
                    "name": "main",
                    "resources": {"limits": {"cpu": "500m"}},
                    "livenessProbe": {
                        "httpGet": {"path": "/", "port": 8080, "host": ""},
                        "initialDelaySeconds": 5,
                    },
                }
            ],
            "terminationGracePeriodSeconds": -1,
            "hostNetwork": True,
        },
    }
    assert expected == pod
    lease = part(2, part(1, "me") + part(3, part(1, 1_700_000_000) + part(2, 5_000)))
    found = decode_protobuf(envelope("coordination.k8s.io/v1", "Lease", lease))
    assert {"holderIdentity": "me", "acquireTime": "2023-11-14T22:13:20.000005Z"} == found["spec"]
    secret = decode_protobuf(envelope("v1", "Secret", part(2, part(1, "k") + part(2, b"\x00\xff"))))
    assert {"k": "AP8="} == secret["data"]


@pytest.mark.parametrize(
    "body",
    [
        MAGIC + b"\x12\x05ab",
        MAGIC + b"\x0f",
        MAGIC + b"\x80",
        envelope("v1", "Nothing", b""),
        envelope("v1", "Pod", part(1, part(1, b"\xff"))),
    ],
)
def test_malformed_bytes_are_a_bad_request(body: bytes) -> None:
    """What is cut off, unknown or no text is refused, not guessed."""
    with pytest.raises(ApiError) as refusal:
        decode_protobuf(body)
    assert 400 == refusal.value.code
