"""Properties of records: whatever happens in whatever order, they only grow, end in silence, and say what is there."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import MACHINE_AT, NODE_AT, a_backup, a_hold, a_node
from tests.core.incident.scene import CHECK_AT, Scene

from noderemedy.core.incident import diary
from noderemedy.core.incident.view import sees
from noderemedy.model.host import Power
from noderemedy.model.incident import Incident
from noderemedy.model.meta import Malformed

CHANGES: dict[str, Any] = {
    "sick": lambda scene: scene.falls_sick(),
    "well": lambda scene: scene.recovers(),
    "marked": lambda scene: scene.change(machine={"needs_remediation": True}),
    "unmarked": lambda scene: scene.change(machine={"needs_remediation": False}),
    "held": lambda scene: scene.change(host={"held": True, "hold": a_hold(since=scene.now.wall)}),
    "held somehow": lambda scene: scene.change(host={"held": True, "hold": Malformed("garbage")}),
    "released": lambda scene: scene.change(host={"held": False, "hold": None}),
    "off": lambda scene: scene.change(host={"power": Power.OFF}),
    "on": lambda scene: scene.change(host={"power": Power.ON}),
    "backup": lambda scene: scene.change(machine={"backup": a_backup(), "node_deleted_at": scene.now.wall}),
    "restored": lambda scene: scene.change(machine={"backup": None, "node_deleted_at": None}),
    "node gone": lambda scene: scene.loses(NODE_AT, scene.node.uid),
    "new node": lambda scene: scene.set_node(replace(a_node(f"node-{scene.version}", boot_id=f"b{scene.version}"))),
    "another machine": lambda scene: scene.change(machine={"uid": f"machine-{scene.version}"}),
    "no check": lambda scene: scene.loses(CHECK_AT, scene.check.uid),
    "the check": lambda scene: scene.put(CHECK_AT, scene.check),
    "restart": lambda scene: scene.start(),
    "a second": lambda scene: scene.wait(1),
    "a minute": lambda scene: scene.wait(70),
    "ten minutes": lambda scene: scene.wait(600),
}
STORIES = st.lists(st.sampled_from(sorted(CHANGES)), max_size=14)


def by_name(scene: Scene) -> dict[str, Incident]:
    return {f"{one.found.target_uid} {one.found.episode}": one for one in scene.incidents()}


@settings(max_examples=60, deadline=None)
@given(story=STORIES)
def test_records_only_grow_and_come_to_rest(story: list[str]) -> None:
    """No step is ever changed, nothing closed goes on, one is open at most, and an hour later nothing is written."""
    scene = Scene()
    for change in story:
        before = by_name(scene)
        CHANGES[change](scene)
        after = by_name(scene)
        for name, old in before.items():
            new = after[name]
            assert new.found == old.found
            assert new.record.steps[: len(old.record.steps)] == old.record.steps
            assert old.is_open or new == old
        assert sum(one.is_open for one in after.values()) <= 1
    scene.wait(1_200)
    written = len(scene.writes)
    scene.wait(7_200)

    assert written == len(scene.writes)


@settings(max_examples=60, deadline=None)
@given(story=STORIES)
def test_an_open_record_says_what_is_there(story: list[str]) -> None:
    """At rest the last step about the hold and the request is true."""
    scene = Scene()
    for change in story:
        CHANGES[change](scene)
    scene.wait(1_200)

    for one in scene.incidents():
        if one.is_open:
            last = {step.what: step.value for step in one.record.steps}
            assert scene.machine.needs_remediation == bool(last.get("request"))
            assert scene.host.held == bool(last.get("hold"))
    is_in_hand = scene.host.held or scene.machine.needs_remediation
    assert not is_in_hand or any(one.is_open for one in scene.incidents())


@settings(max_examples=60, deadline=None)
@given(story=STORIES)
def test_looking_twice_notes_nothing_new(story: list[str]) -> None:
    """The diary of the same view is the same diary."""
    scene = Scene()
    for change in story:
        CHANGES[change](scene)
    view = sees(MACHINE_AT, scene.engine.cache)
    if view is None:
        return
    first = diary.decide(view, scene.now)
    stated = first.facts[0].value if first.facts else None

    assert stated == scene.diary()
    assert first == diary.decide(view, scene.now)
