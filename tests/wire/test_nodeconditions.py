"""A condition of ours on a Node: applied beside those of kubelet, on the very Node that was judged."""

from __future__ import annotations

import json
import random
from typing import Any

from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, RESOURCES, a_node_tree

from noderemedy.model.actions import Guard, PublishNodeCondition
from noderemedy.model.ids import NODE
from noderemedy.model.node import Condition, Node
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import User
from noderemedy.wire.objects import convert
from noderemedy.wire.requests import render

US = User("node-remedy")
TOLD = Condition("FencingReady", "False", NOW.wall, "DeviceFailed")


def an_action(uid: str) -> PublishNodeCondition:
    return PublishNodeCondition(NODE_AT, Guard(uid), TOLD, "no route to the BMC")


def test_the_request_names_one_condition_and_the_uid() -> None:
    """By server-side apply, under our own name: nothing else of the status is ours."""
    request = render(an_action("u1"), 7, RESOURCES)

    assert ("PATCH", "/api/v1/nodes/worker-0/status") == (request.method, request.path)
    assert "application/apply-patch+yaml" == request.content_type
    assert (("fieldManager", "node-remedy"), ("force", "true")) == request.query
    condition = {
        "type": "FencingReady",
        "status": "False",
        "reason": "DeviceFailed",
        "message": "no route to the BMC",
        "lastTransitionTime": str(NOW.wall),
    }
    assert {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "worker-0", "uid": "u1"},
        "status": {"conditions": [condition]},
    } == json.loads(request.body)


def test_the_conditions_of_others_stay() -> None:
    """In the simulated API, which behaves as a real one in this: ours alone changes, and only on that very Node."""
    api = ApiServer(wall=lambda: NOW.wall, chance=random.Random(1))
    tree: dict[str, Any] = a_node_tree()
    made = api.create({**tree, "metadata": {"name": "worker-0"}})
    api.patch(NODE, "worker-0", "", {"status": tree["status"]}, "merge", subresource="status")
    before = found(api)

    for _ in range(2):
        assert 200 == api.handle(render(an_action(made["metadata"]["uid"]), 7, RESOURCES), US).status

    assert {*before.conditions, TOLD} == set(found(api).conditions)
    assert 422 == api.handle(render(an_action("another"), 7, RESOURCES), US).status


def test_which_devices_are_wrong_is_read_from_the_message_again() -> None:
    """Of our own condition alone: a word of a later manager is about the device that an earlier one asked."""
    wrong = replace(TOLD, reason="WrongDevice", wrong=("0a1b2c3d4e", "f00f00f00f"))
    sent = json.loads(render(PublishNodeCondition(NODE_AT, Guard("u1"), wrong, "not its plug"), 7, RESOURCES).body)
    (condition,) = sent["status"]["conditions"]
    assert "not its plug (wrong: device 0a1b2c3d4e, f00f00f00f)" == condition["message"]

    others = {**condition, "type": "NetworkReady"}
    bare = {**condition, "message": "(wrong: device 0a1b2c3d4e) is what somebody said"}
    read = [convert(NODE, {**a_node_tree(), "status": {"conditions": [one]}}).obj for one in (condition, others, bare)]
    assert [wrong.wrong, (), ()] == [node.conditions[0].wrong for node in read if isinstance(node, Node)]


def found(api: ApiServer) -> Node:
    obj = convert(NODE, api.get(NODE, "worker-0", "")).obj
    assert isinstance(obj, Node)
    return obj


def test_the_machine_of_a_node_is_read() -> None:
    """As its firmware tells it, by way of kubelet."""
    tree = a_node_tree()
    tree.setdefault("status", {}).setdefault("nodeInfo", {})["systemUUID"] = "4c4c4544"

    assert "4c4c4544" == convert(NODE, tree).obj.system_uuid
