"""Lists of persistent volumes over the wire: who has which, and by which names a fence may cover them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.builders import NODE_AT, RESOURCES
from tests.wire.test_answers import ended

from noderemedy.model.actions import ListStorage
from noderemedy.model.outcome import Done, Failed
from noderemedy.model.workload import StorageOfNode, Volume, storage_at
from noderemedy.wire.requests import render


def listed(*items: Any) -> Any:
    body = {"metadata": {"resourceVersion": "42"}, "items": list(items)}
    return ended(ListStorage(NODE_AT), 200, json.dumps(body).encode())


def a_volume(name: str, phase: str = "Bound", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


CLAIM = {"namespace": "shop", "name": "data"}


def test_all_volumes_are_asked_for() -> None:
    """One list of the whole cluster: the API cannot select them by node."""
    request = render(ListStorage(NODE_AT), 7, RESOURCES)

    assert ("GET", "/api/v1/persistentvolumes") == (request.method, request.path)


def test_what_a_list_says_of_a_volume() -> None:
    """Its claim, its class and its driver; one that nobody has claimed is left out."""
    done = listed(
        a_volume("pv-1", claimRef=CLAIM, storageClassName="fc", csi={"driver": "d"}),
        a_volume("pv-0", claimRef={"namespace": "shop", "name": "logs"}),
        a_volume("free", storageClassName="fc"),
    )

    assert isinstance(done, Done)
    assert done.seen is not None
    assert (storage_at(NODE_AT), "42") == (done.seen.ref, done.seen.resource_version)
    assert StorageOfNode((Volume("shop/data", "pv-1", "fc", "d"), Volume("shop/logs", "pv-0"))) == done.seen.obj


@pytest.mark.parametrize("phase", ["Released", "Available", "Pending", "Failed", ""])
def test_only_a_volume_that_is_bound_speaks_for_its_claim(phase: str) -> None:
    """One that is kept after its claim was deleted (Released) still names that claim, and is not what it has now."""
    old = a_volume("pv-0", phase, claimRef=CLAIM, storageClassName="fc")
    done = listed(old, a_volume("pv-1", claimRef=CLAIM, storageClassName="nfs"))

    assert isinstance(done, Done)
    assert done.seen is not None
    assert StorageOfNode((Volume("shop/data", "pv-1", "nfs"),)) == done.seen.obj


def test_a_volume_without_a_status_speaks_for_nothing() -> None:
    """Nobody has said that it is bound."""
    done = listed({"metadata": {"name": "pv-0"}, "spec": {"claimRef": CLAIM}})

    assert isinstance(done, Done)
    assert done.seen is not None
    assert StorageOfNode(()) == done.seen.obj


def test_the_names_of_a_volume() -> None:
    """By which `covers` may name it; what it has not, covers nothing."""
    storage = StorageOfNode((Volume("shop/data", "pv-1", "fc", "d"), Volume("shop/logs", "pv-0")))

    [data] = storage.volumes_of("shop/data")
    assert {"volume/pv-1", "storageClass/fc", "driver/d"} == data.names
    assert {"volume/pv-0"} == storage.names_of_volume("pv-0")
    assert ((), frozenset()) == (storage.volumes_of("x"), storage.names_of_volume("x"))


def test_half_a_list_is_no_list() -> None:
    """What cannot be read whole fails, and nothing is freed on it."""
    assert isinstance(listed({"metadata": {"name": 7}}), Failed)
