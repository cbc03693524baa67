"""Events about nodes as thresholds: so many within a time; watched only where a document asks for them."""

from __future__ import annotations

from tests.core.remedy.scene import DOCUMENT_AT, TEXT, Scene, text

from noderemedy.core.remedy.facts import Trouble, trouble_ref
from noderemedy.model.ids import NODE, ref
from noderemedy.model.nodeevents import EventsWanted, NodeEvents, events_wanted_ref, node_events_ref
from noderemedy.model.outcome import Seen

OOPSES = text(
    (
        "- nodeConditionType: Ready\n  nodeConditionStatus: [false, Unknown]\n  nodeConditionPeriod: 60s\n",
        "- nodeEventReason: KernelOops\n  count: 3\n  within: 1h\n",
    )
)


def happen(scene: Scene, *ago: float) -> None:
    """The program has counted events that happened so many seconds ago."""
    moments = tuple(type(scene.now.wall)(scene.now.wall.ms - round(one * 1000)) for one in ago)
    counted = NodeEvents((("KernelOops", moments),))
    scene.engine.seen(Seen(node_events_ref("n0"), "", "", counted), scene.now)
    scene.step()


def test_events_are_asked_for_only_by_documents_that_name_them() -> None:
    """A fact says which; a document of conditions alone states none."""
    at = events_wanted_ref(DOCUMENT_AT)

    assert EventsWanted(("KernelOops",)) == Scene(OOPSES).fact(at)
    assert Scene(TEXT).fact(at) is None


def test_enough_events_reach_the_threshold() -> None:
    """Two are not enough, three within the time are."""
    scene = Scene(OOPSES)
    happen(scene, 600, 300)
    before = scene.jobs()
    happen(scene, 600, 300, 5)

    assert [] == before
    assert ["repair"] == scene.ordered()
    assert ["EventsRepeated"] == scene.reasons("threshold")


def test_events_that_are_too_old_do_not_count() -> None:
    """Three, of which one is older than the time."""
    scene = Scene(OOPSES)
    happen(scene, 4_000, 300, 5)

    assert [] == scene.jobs()


def test_the_trouble_ends_with_the_time() -> None:
    """When the first of them is an hour old the threshold is not reached any more, and the recovery runs."""
    scene = Scene(OOPSES)
    happen(scene, 3_000, 300, 5)
    found = scene.fact(trouble_ref(ref(NODE, "n0")))
    scene.end_job()
    scene.wait(170)
    still = scene.fact(trouble_ref(ref(NODE, "n0")))
    scene.wait(460)

    assert isinstance(found, Trouble)
    assert isinstance(still, Trouble)
    assert scene.fact(trouble_ref(ref(NODE, "n0"))) is None
