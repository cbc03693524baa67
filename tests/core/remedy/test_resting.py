"""A first remedy that cannot be written down (a webhook, missing rights) keeps no place: it rests, and asks again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import RESOURCES
from tests.core.remedy.scene import TEXT, Scene, and_more
from tests.core.remedy.test_gates import POLICY

from noderemedy.model.ids import NODE, ref
from noderemedy.model.outcome import Failed
from noderemedy.wire.requests import render

MINUTES = 60


class Refusing(Scene):
    """A webhook lets nobody write to the first two nodes; or nobody makes their Jobs."""

    refused: tuple[str, ...] = ()

    def outcome(self, effect: Any) -> Any:
        text = f"{effect.action.ref.name} {render(effect.action, 7, RESOURCES).body!r}"
        is_about = any(name in text for name in ("n0", "n1"))
        if type(effect.action).__name__ in self.refused and is_about:
            return Failed("admission webhook denied the request", lasting=True)
        return super().outcome(effect)


def refusing(write: str, document: str = TEXT) -> Refusing:
    """Two of twelve nodes, which have both places, are refused this for good; a third one falls sick later."""
    scene = Refusing(document, nodes=12)
    scene.refused = (write,)
    scene.falls_sick("n0")
    scene.falls_sick("n1")
    scene.wait(5 * MINUTES)
    scene.falls_sick("n2")
    return scene


@pytest.mark.parametrize("write", ["WriteRemedyRecord", "ClaimRepair", "CreateJob"])
def test_what_is_refused_leaves_its_place_to_others(write: str) -> None:
    """A place that leads to nothing is given back, and a third node gets its remedy."""
    scene = refusing(write)
    scene.wait(2 * MINUTES)
    early = scene.record("n2")
    scene.wait(40 * MINUTES)

    assert early is None
    assert scene.record("n2") is not None


@pytest.mark.parametrize("write", ["WriteRemedyRecord", "ClaimRepair"])
def test_who_rests_tries_nothing_and_asks_again(write: str) -> None:
    """A person is told; when whoever refuses it is mended, the remedy begins after the rest."""
    scene = refusing(write)
    scene.wait(8 * MINUTES)
    rests, tries = [scene.reasons(at=ref(NODE, name)) for name in ("n0", "n1")], scene.done.count(write)
    scene.wait(4 * MINUTES)
    meanwhile = scene.done.count(write) - tries
    scene.refused = ()
    scene.wait(60 * MINUTES)

    assert [["RepairStuck"]] * 2 == rests
    assert meanwhile <= 3, "of the third node alone"
    assert scene.record("n0") is not None


def test_who_rests_gives_its_turn_back() -> None:
    """`oneAtATime`: the next node gets its remedy, and keeps the turn."""
    scene = refusing("WriteRemedyRecord", and_more(POLICY % "oneAtATime: true"))
    scene.wait(30 * MINUTES)

    assert scene.record("n2") is not None
