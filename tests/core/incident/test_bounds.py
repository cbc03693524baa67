"""Records are bounded: so many per target, so many in all, so much in each; the oldest that are over go."""

from __future__ import annotations

from typing import Any

from tests.builders import MACHINE_AT, NODE_AT, NOW
from tests.core.incident.scene import Scene, sick

from noderemedy.core.incident import recordview, shelf
from noderemedy.core.traces import Erasing, erasing_ref
from noderemedy.model.ids import INCIDENT, NODE, SYSTEM, Ref, ref
from noderemedy.model.incident import Detection, Ending, Incident, Record
from noderemedy.model.outcome import Effect, Outcome, Seen
from noderemedy.model.reasons import IncidentBegins, IncidentBehind, IncidentsOverflow
from noderemedy.model.remote import Remote, Sight, cluster_name, remote_ref
from noderemedy.model.room import Present
from noderemedy.model.time import Now, Wall
from noderemedy.model.workload import POD, PodsOfNode, pods_at
from noderemedy.wire.incidents import incident_body, status_body
from noderemedy.wire.objects import convert

EAST = cluster_name(MACHINE_AT.namespace, "east")


def stored(
    scene: Scene, number: int, target: Ref = MACHINE_AT, *, is_open: bool = False, how: Ending = Ending.RECOVERED
) -> None:
    """An incident of long ago, one minute after the other, in the API and seen."""
    found = Detection(target, "machine-uid-1", f"{number:010x}", Wall(60_000 * number))
    name = ref(INCIDENT, f"worker-0-{number:010x}", SYSTEM)
    scene.api.create(incident_body(name, "v1alpha1", found))
    over = {} if is_open else status_body(Record(ending=how, closed=Wall(60_000 * number)))
    tree = scene.api.patch(INCIDENT, name.name, SYSTEM, {"status": over}, "merge", subresource="status")
    scene.engine.seen(convert(INCIDENT, tree), scene.now)


def others(number: int) -> Ref:
    return ref(MACHINE_AT.kind, f"worker-{number}", "metal")


def numbers(scene: Scene) -> list[int]:
    return [int(one.found.episode, 16) for one in scene.incidents() if one.found.detected < NOW.wall]


def test_a_target_keeps_its_last_ten() -> None:
    """The eleventh takes the place of the oldest."""
    scene = Scene()
    for number in range(1, 13):
        stored(scene, number)
    scene.step()
    assert list(range(1, 13)) == numbers(scene), "as long as nothing happens, nothing is dropped"
    scene.falls_sick()
    scene.wait(500)

    assert list(range(4, 13)) == numbers(scene)
    assert recordview.PER_TARGET == len(scene.incidents())


def test_signs_that_came_to_nothing_push_no_repair_out() -> None:
    """A node that comes and goes by itself is parked after its repairs all the same: each sort has ten places."""
    scene = Scene()
    for number in range(1, 10):
        stored(scene, number)
    for number in range(10, 31):
        stored(scene, number, how=Ending.SELF_RECOVERED if number % 2 else Ending.UNWATCHED)
    scene.falls_sick()
    scene.wait(1_000)

    assert [*range(1, 10), *range(22, 31)] == numbers(scene)


def test_a_full_shelf_lets_the_oldest_go() -> None:
    """Of those that are over, whoever they are about; open ones stay."""
    scene = Scene(kept=30)
    scene.falls_sick()
    for number in range(1, 61):
        stored(scene, number, MACHINE_AT if number == 2 else others(number), is_open=number == 2)
    scene.step()

    assert [2, *range(32, 61)] == numbers(scene)
    scene.wait(600)
    assert [2, *range(32, 61)] == numbers(scene)


def test_what_is_gone_already_is_no_trouble() -> None:
    """Two managers drop the same one: not found is as good as done."""
    scene = Scene()
    for number in range(1, 12):
        stored(scene, number)
    scene.api.delete(INCIDENT, "worker-0-0000000001", SYSTEM)
    scene.falls_sick()
    scene.wait(500)

    assert list(range(3, 12)) == numbers(scene)


def test_too_few_to_drop_are_left_alone() -> None:
    """All of the surplus is open: nothing can go."""
    held: list[Any] = [
        (ref(INCIDENT, f"i-{number}", SYSTEM), Present(an_incident(number), "1", NOW.mono)) for number in range(3)
    ]

    assert 2 == len(shelf.decide(shelf.ShelfView(tuple(held[:2]), 5, 3), NOW).actions)
    assert () == shelf.decide(shelf.ShelfView((), 5, 3), NOW).actions


def an_incident(number: int) -> Incident:
    found = Detection(MACHINE_AT, "machine-uid-1", f"{number:010x}", Wall(number))
    return Incident(f"uid-{number}", found, Record(ending=Ending.GONE, closed=Wall(number)))


def a_pod(scene: Scene, number: int) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    meta = {"name": f"web-{number:02}", "namespace": SYSTEM, "ownerReferences": [owner]}
    spec = {"nodeName": "worker-0", "containers": [{"name": "main", "image": "registry.example/web:1"}]}
    scene.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})


def test_pods_are_listed_once_and_bounded() -> None:
    """What ran on the node when it was judged unhealthy, with owners; finished ones do not count."""
    scene = Scene()
    for number in range(60):
        a_pod(scene, number)
    done = {"status": {"phase": "Succeeded"}}
    scene.api.patch(POD, "web-00", SYSTEM, done, "merge", subresource="status")
    scene.falls_sick()
    scene.wait(60)
    assert scene.incident().record.pods_in_all is None, "a sign alone is not worth a list"
    scene.wait(250)

    record = scene.incident().record
    assert (59, 50) == (record.pods_in_all, len(record.pods))
    assert (SYSTEM, "web-01", "StatefulSet/web") == (
        record.pods[0].namespace,
        record.pods[0].name,
        record.pods[0].owner,
    )
    scene.wait(600)
    assert record == scene.incident().record


def test_pods_are_listed_before_they_go() -> None:
    """As soon as something is done that costs them their node, and told with what the record is opened with."""
    scene = Scene()
    a_pod(scene, 1)
    scene.change(machine={"needs_remediation": True})
    scene.wait(5)
    scene.api.delete(POD, "web-01", SYSTEM)
    scene.wait(150)

    assert (1, ["request marked"]) == (scene.incident().record.pods_in_all, scene.told()[1:])
    assert 1 == len(scene.writes)


def test_a_list_from_before_the_record_does_not_count() -> None:
    """Somebody listed the pods of this node an hour ago: they are listed again."""
    scene = Scene()
    scene.wait(1)
    a_pod(scene, 1)
    scene.engine.seen(Seen(pods_at(NODE_AT), "", "1", PodsOfNode()), scene.now)
    scene.falls_sick()
    scene.wait(1_600)

    assert 1 == scene.incident().record.pods_in_all


def sees_cluster(scene: Scene, sight: Sight) -> None:
    """What a program says of the cluster east, where the node of the machine is."""
    at = Ref(EAST, NODE, "", NODE_AT.name)
    if sight is Sight.SEEN:
        scene.engine.listing(NODE, scene.now, EAST)
        scene.put(at, scene.node)
        scene.engine.listed(NODE, scene.now, EAST)
    else:
        scene.engine.lost(NODE, scene.now, EAST)
    scene.engine.seen(Seen(remote_ref(MACHINE_AT.namespace, "east"), "", "", Remote(sight)), scene.now)
    scene.step()


def test_pods_are_not_listed_in_a_cluster_that_is_out_of_sight() -> None:
    """It would not answer: the record goes on without them, and they are listed when the cluster is seen again."""
    scene = Scene()
    a_pod(scene, 1)
    scene.node = sick(scene.node, scene.now.wall)
    sees_cluster(scene, Sight.SEEN)
    scene.change(machine={"cluster_name": "east"})
    scene.wait(60)
    sees_cluster(scene, Sight.LOST)
    scene.change(machine={"needs_remediation": True})
    scene.wait(300)
    assert "request marked" in scene.told()
    assert "node gone" not in scene.told(), "nobody saw that"
    assert scene.incident().record.pods_in_all is None

    sees_cluster(scene, Sight.SEEN)
    scene.wait(700)
    assert 1 == scene.incident().record.pods_in_all


def test_a_record_is_written_though_its_pods_cannot_be_listed() -> None:
    """They are asked for again a minute later; whoever waits for the record does not wait for that."""
    scene = Scene()
    scene.falls_sick()
    scene.wait(60)
    scene.lists_pods = False
    scene.change(machine={"needs_remediation": True})
    scene.wait(10)
    assert "request marked" not in scene.told()

    scene.engine.seen(Seen(erasing_ref("room", MACHINE_AT), "", "", Erasing(MACHINE_AT, "room")), scene.now)
    scene.step()
    assert ("request marked", None) == (scene.told()[-1], scene.incident().record.pods_in_all)

    scene.lists_pods = True
    scene.wait(900)
    assert 0 == scene.incident().record.pods_in_all


def test_each_write_has_its_reason() -> None:
    """Why a record begins, is written and is dropped: all of it daily business."""
    scene = Scene()
    for number in range(1, 12):
        stored(scene, number)
    told: set[type] = set()
    carry_out = scene.engine.ended

    def ended(effect: Effect, outcome: Outcome, now: Now) -> Effect | None:
        told.update(type(reason) for reason in scene.engine.decisions[effect.key].because)
        return carry_out(effect, outcome, now)

    scene.engine.ended = ended  # type: ignore[method-assign]
    scene.falls_sick()
    scene.wait(1_200)

    assert {IncidentBegins, IncidentBehind, IncidentsOverflow} == told
    assert all(kind.quiet for kind in (IncidentBegins, IncidentBehind, IncidentsOverflow))
