"""Events about nodes as thresholds: so many within a time; watched only where a document asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from msgspec import Struct
from tests.builders import later
from tests.core.remedy.scene import DOCUMENT_AT, TEXT, Scene, text

from noderemedy.core.remedy.facts import Trouble, trouble_ref
from noderemedy.model.ids import NODE, NODE_FENCE, ref
from noderemedy.model.nodeevents import EventsWanted, NodeEvents, events_wanted_ref, node_events_ref
from noderemedy.model.outcome import Seen
from noderemedy.model.remedy import Phase
from noderemedy.model.time import Wall

EXAMPLES = Path(__file__).parents[3] / "examples"
TROUBLE_AT = trouble_ref(ref(NODE, "n0"))

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
    scene.wait(1_000)
    happen(scene, 4_000, 300, 5)

    assert [] == scene.jobs()


def test_the_trouble_ends_with_the_time() -> None:
    """When the first of them is an hour old the threshold is not reached any more, whatever the remedies did."""
    scene = Scene(OOPSES)
    happen(scene, 3_000, 300, 5)
    found = scene.fact(TROUBLE_AT)
    scene.end_job(is_good=False)
    scene.wait(170)
    still = scene.fact(TROUBLE_AT)
    scene.wait(460)

    assert isinstance(found, Trouble)
    assert isinstance(still, Trouble)
    assert scene.fact(TROUBLE_AT) is None


class Story(Struct, frozen=True):
    """What happens after three oopses, the last of them at zero, and the order of the first remedy; in seconds."""

    ends: int = 10  # the remedy
    is_good: bool = True
    boots: int | None = 5  # the node, into boot-2
    again: int | None = None  # the node, into boot-3
    oopses: tuple[int, ...] = ()  # three at each of these moments
    heard: int = 0  # so long after its end the manager looks: nobody led meanwhile
    first_boot: str = "boot-1"
    next_boot: str = "boot-2"


STORIES = {
    "it is repaired": (Story(), []),
    "the repair does not help": (Story(oopses=(60,)), ["reset"]),
    "it does not help, which shows after a while": (Story(oopses=(170,)), ["reset"]),
    "events at the very end of the remedy": (Story(oopses=(10,)), []),
    "events while the remedy runs": (Story(oopses=(7,)), []),
    "it is repaired without a boot": (Story(boots=None), []),
    "without a boot the repair does not help": (Story(boots=None, oopses=(60,)), ["reset"]),
    "the remedy fails, and the node has not booted": (Story(boots=None, is_good=False), ["reset"]),
    "the remedy fails because its node goes down": (Story(boots=60, is_good=False), []),
    "the remedy fails after the node has booted": (Story(is_good=False), []),
    "the remedy only asks for the boot": (Story(boots=60), []),
    "events while the node goes down": (Story(boots=60, oopses=(40,)), []),
    "the boot does not help": (Story(boots=60, oopses=(100,)), ["reset"]),
    "it goes down once more by itself": (Story(again=100, oopses=(90,)), ["reset"]),
    "nobody says which boot it was": (Story(first_boot=""), []),
    "nobody says which boot it was, and the remedy fails": (Story(first_boot="", is_good=False), ["reset"]),
    "nobody says which boot it is": (Story(next_boot=""), []),
    "nobody says which boot it is, and the remedy fails": (Story(next_boot="", is_good=False), ["reset"]),
    "nobody says which boot it is, and the repair does not help": (Story(next_boot="", oopses=(60,)), ["reset"]),
    "nobody led when it ended": (Story(heard=100), []),
    "nobody led when it ended, and it does not help": (Story(boots=None, heard=100, oopses=(60,)), ["reset"]),
}
MOMENTS_OF_RESTART = (None, 8, 30, 65, 150, 195)


@pytest.mark.parametrize("restart", MOMENTS_OF_RESTART)
@pytest.mark.parametrize("case", STORIES)
def test_only_what_happens_after_a_repair_calls_for_the_next_remedy(case: str, restart: int | None) -> None:
    """A new manager, whenever it comes, judges as the old one did: what it needs stands on the Node."""
    story, expected = STORIES[case]
    scene = play(story, restart, until=200 + story.heard)

    assert ["repair", *expected] == [one for one in scene.ordered() if one != "welcome"]


def test_a_boot_after_a_remedy_is_told() -> None:
    """People are told from when on events count."""
    assert {"NodeBooted"} < set(play(Story(boots=60, is_good=False), None, until=70).told)


@pytest.mark.parametrize("case", [name for name, (_, expected) in STORIES.items() if not expected])
@pytest.mark.parametrize("restart", [None, 400])
def test_a_repaired_node_stays_in_peace(case: str, restart: int | None) -> None:
    """Its record goes; the same events, which are still told, begin no second chain, and three new ones do."""
    scene = play(STORIES[case][0], restart, until=1_000)
    before = (scene.record(), scene.ordered())
    oops(scene, 3)

    assert (None, ["repair", "welcome"]) == before
    assert ["repair", "welcome", "repair"] == scene.ordered()


def test_a_chain_that_is_exhausted_stays_so() -> None:
    """After the last remedy, too, it is the events since the last repair that count; the chain does not begin anew."""
    scene = play(Story(boots=None, oopses=(60,)), None, until=200)
    scene.end_job()
    scene.wait(1)
    oops(scene, 3)
    scene.wait(1_500)
    record = scene.record()
    scene.wait(3_000)

    assert ["repair", "reset", "welcome"] == scene.ordered()
    assert record is not None
    assert Phase.EXHAUSTED is record.phase


def test_a_new_node_of_that_name_has_no_past() -> None:
    """What happened to the Node that somebody deleted calls for no remedy of its successor."""
    scene = Scene(OOPSES)
    scene.delete(NODE, "n0")
    scene.wait(10)
    scene.add_node("n0")
    happen(scene, 30, 20, 11)
    before = scene.jobs()
    happen(scene, 30, 20, 11, 0, 0, 0)

    assert [] == before
    assert ["repair"] == scene.ordered()


@pytest.mark.parametrize(("ago", "expected"), [("-400", ["repair"]), ("0", []), ("noon", ["repair"])])
def test_a_person_may_clear_the_events(ago: str, expected: list[str]) -> None:
    """Who writes down when the node was repaired is believed; what is not a time says nothing."""
    scene = Scene(OOPSES)
    text = ago if ago == "noon" else str(later(int(ago), scene.now).wall)
    scene.patch(NODE, "n0", {"metadata": {"annotations": {"node-remedy.dev/remedied-at": text}}})
    happen(scene, 300, 200, 100)

    assert expected == scene.ordered()


def test_where_nobody_counts_events_nothing_is_kept() -> None:
    """A document of conditions alone leaves no time of a repair on its nodes."""
    scene = Scene(TEXT)
    scene.falls_sick()
    scene.wait(70)
    scene.end_job()
    scene.set_status(boot="boot-2")
    scene.recovers()
    scene.wait(20)

    assert "node-remedy.dev/remedied-at" not in scene.notes()


def test_the_example_reboots_and_goes_on_only_if_oopses_do() -> None:
    """Three oopses are a reboot; the fence follows after three more, and not before the period is over."""
    [document] = yaml.safe_load_all((EXAMPLES / "remedy-events" / "workers.yaml").read_text(encoding="utf-8"))
    scene = Stage(document["data"]["config.yaml"])
    scene.patch(NODE, "n0", {"metadata": {"labels": {"type": "bare-metal"}}})
    oops(scene, 3)
    scene.end_job()
    scene.wait(60)
    oops(scene, 3)
    scene.wait(800)
    before = scene.api.list(NODE_FENCE)
    scene.wait(60)

    assert (["reboot"], []) == (scene.ordered(), before)
    assert ["node-fence-n0"] == [one["metadata"]["name"] for one in scene.api.list(NODE_FENCE)]


# --- playing a story ---------------------------------------------------------------------------------------------


class Stage(Scene):
    """A scene in which a manager that starts counts what happened so far, once more."""

    oopses: tuple[Wall, ...] = ()
    is_led = True

    def start(self) -> None:
        super().start()
        self.count()

    def look(self) -> None:
        if self.is_led:
            super().look()

    def count(self) -> None:
        counted = NodeEvents((("KernelOops", self.oopses),))
        self.engine.seen(Seen(node_events_ref("n0"), "", "", counted), self.now)
        self.look()


def oops(scene: Stage, times: int) -> None:
    scene.oopses = (*scene.oopses, *[scene.now.wall] * times)
    scene.count()


def play(story: Story, restart: int | None, until: int) -> Stage:
    """The story, second by second where something happens, with a change of managers at some moment."""
    scene = Stage(OOPSES)
    scene.set_status(boot=story.first_boot)
    oops(scene, 3)
    for second in range(1, until + 1):
        step(scene, story, second)
        if second == restart and scene.is_led:
            scene.start()
    return scene


def step(scene: Stage, story: Story, second: int) -> None:
    scene.now = later(1, scene.now)
    if second in story.oopses:
        oops(scene, 3)
    if second == story.boots:
        scene.set_status(boot=story.next_boot)
    if second == story.again:
        scene.set_status(boot="boot-3")
    if second == story.ends:
        scene.is_led = not story.heard
        scene.end_job(story.is_good)
    if second == story.ends + story.heard:
        scene.is_led = True
        scene.start()
    if second > story.ends and scene.ordered()[-1:] == ["welcome"] and scene.running_jobs():
        scene.end_job()
    if scene.is_led:
        scene.step()
