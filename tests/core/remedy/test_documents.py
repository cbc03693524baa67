"""Documents come, change, break and go: the last good one goes on, also over a restart, and errors name their line."""

from __future__ import annotations

from tests.builders import NOW
from tests.core.remedy.scene import DOCUMENT_AT, TEXT, Scene, text

from noderemedy.core.remedy import documents
from noderemedy.core.remedy.documents import DocumentView
from noderemedy.core.remedy.facts import DocumentFact, document_ref
from noderemedy.model.configuration import Document
from noderemedy.model.ids import CONFIG_MAP, SYSTEM, ref
from noderemedy.model.reasons import DocumentElsewhere
from noderemedy.model.time import Span
from noderemedy.wire.configuration import read_configuration

BROKEN = text(("nodeConditionPeriod: 60s", "nodeConditionPeriod: soon"))
SLOWER = text(("nodeConditionPeriod: 60s", "nodeConditionPeriod: 90s"))
KEPT = ref(CONFIG_MAP, "last-good-workers", SYSTEM)


def fact(scene: Scene, name: str = "workers") -> DocumentFact | None:
    found = scene.fact(document_ref(ref(CONFIG_MAP, name, SYSTEM)))
    assert found is None or isinstance(found, DocumentFact)
    return found


def period(scene: Scene) -> Span | None:
    found = fact(scene)
    return found.document.configuration.thresholds[0].period if found else None


def told(scene: Scene) -> list[str]:
    return scene.reasons("configuration", DOCUMENT_AT)


def note(scene: Scene) -> str:
    [decided] = [one for key, one in scene.engine.decisions.items() if key.room == "configuration"]
    return decided.because[0].note()


def test_a_good_document_is_stated_and_kept() -> None:
    """Its text stands beside it, owned by it, written once."""
    scene = Scene()
    kept = scene.api.get(CONFIG_MAP, KEPT.name, SYSTEM)

    assert Span.seconds(60) == period(scene)
    assert TEXT == kept["data"]["config.yaml"]
    assert ["workers"] == [one["name"] for one in kept["metadata"]["ownerReferences"]]
    assert ["KeepDocument"] == scene.done


def test_a_change_counts_at_once_and_is_kept() -> None:
    """Hot reload: the next look judges by the new text, and one write keeps it."""
    scene = Scene()
    scene.write_document(SLOWER)

    assert Span.seconds(90) == period(scene)
    assert SLOWER == scene.api.get(CONFIG_MAP, KEPT.name, SYSTEM)["data"]["config.yaml"]
    assert ["KeepDocument"] * 2 == scene.done


def test_a_broken_document_keeps_the_last_good_one() -> None:
    """It says where the error is, and what was there before goes on."""
    scene = Scene()
    scene.write_document(BROKEN)

    assert Span.seconds(60) == period(scene)
    assert ["DocumentBroken"] == told(scene)
    assert "the last good version goes on: config.yaml:8: thresholdConfigs[0].nodeConditionPeriod" in note(scene)
    assert ["KeepDocument"] == scene.done


def test_the_last_good_one_survives_a_restart() -> None:
    """A manager that has never seen the good text takes it from the ConfigMap beside it."""
    scene = Scene()
    scene.write_document(BROKEN)
    scene.start()

    found = fact(scene)
    assert found is not None
    assert (True, Span.seconds(60)) == (found.is_last_good, period(scene))


def test_a_document_that_was_never_good_does_nothing() -> None:
    """Without a good version there is none to go on with."""
    scene = Scene(BROKEN)

    assert fact(scene) is None
    assert "there is no good version: it does nothing" in note(scene)


def test_a_new_config_map_does_not_inherit() -> None:
    """The last good text belongs to one very ConfigMap: another one of that name starts from nothing."""
    scene = Scene()
    scene.delete(CONFIG_MAP, "workers")
    scene.write_document(BROKEN)

    assert fact(scene) is None


def test_what_is_not_ours_is_not_overwritten() -> None:
    """A ConfigMap that merely has the name of our own is left as it is."""
    scene = Scene(None)
    meta = {"name": KEPT.name, "namespace": SYSTEM}
    scene.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"mine": "yes"}})
    scene.write_document(TEXT)

    assert {"mine": "yes"} == scene.api.get(CONFIG_MAP, KEPT.name, SYSTEM)["data"]
    assert Span.seconds(60) == period(scene)


def test_a_mended_document_is_good_again() -> None:
    """The complaint is taken back with the error."""
    scene = Scene()
    scene.write_document(BROKEN)
    scene.write_document(SLOWER)

    assert (Span.seconds(90), []) == (period(scene), told(scene))


def test_a_document_that_goes_is_forgotten() -> None:
    """What it said is not said any more."""
    scene = Scene()
    scene.delete(CONFIG_MAP, "workers")

    assert fact(scene) is None


def test_hints_are_told() -> None:
    """What is legal and probably not meant is told on the ConfigMap."""
    scene = Scene(text(("[false, Unknown]", "false")))

    assert ["DocumentHint"] == told(scene)
    assert "Ready=Unknown" in note(scene)


def test_a_pause_of_now_counts_for_the_last_good_one() -> None:
    """Annotations are no part of the text: a broken document can be paused."""
    scene = Scene()
    scene.write_document(BROKEN, paused="true")
    scene.falls_sick()
    scene.wait(300)

    assert ["PausedByPerson"] == scene.reasons()
    assert [] == scene.jobs()


def test_other_peoples_config_maps_are_not_read() -> None:
    """A config.yaml that does not name us is none of our business."""
    scene = Scene("level: debug\n")

    assert ([], []) == (told(scene), scene.done)


def test_a_document_elsewhere_is_told() -> None:
    """`plan` shows a ConfigMap of another namespace, which the manager would never see."""
    document = Document(read_configuration(TEXT), TEXT)
    decision = documents.decide(DocumentView(ref(CONFIG_MAP, "workers", "default"), "uid", document), NOW)

    assert ([DocumentElsewhere("default", SYSTEM)], ()) == (list(decision.because), decision.facts)


def test_keeping_is_told_to_nobody() -> None:
    """It is bookkeeping: in plan and trace, but no event."""
    document = Document(read_configuration(TEXT), TEXT)
    decision = documents.decide(DocumentView(ref(CONFIG_MAP, "workers", SYSTEM), "uid", document), NOW)
    scene = Scene()

    assert ["KeepingDocument"] == [type(one).__name__ for one in decision.because]
    assert [] == [one for one in scene.told if one == "KeepingDocument"]
