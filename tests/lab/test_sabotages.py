"""Every green of the lab's parts was seen red: one line of harm each, and the test that must fail under it.

Freeing too early, a manager that does nothing and a broken world are sabotaged in `test_once.py`, with a whole lab.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.text import Text
from tests.lab import test_clock, test_control, test_faults, test_files, test_story, test_view

from noderemedy.lab import control, faults, files, view
from noderemedy.lab.clock import RealAgenda
from noderemedy.lab.faults import FAULTS, Fault
from noderemedy.lab.snapshot import State
from noderemedy.lab.story import Story
from noderemedy.sim.agenda import Agenda
from noderemedy.sim.cluster import Cluster

Monkey = pytest.MonkeyPatch


class Sabotage(NamedTuple):
    """What is wrong then, the harm, and the test that sees it."""

    harm: Callable[[Monkey], None]
    test: Callable[[Path, Monkey], None]


def a_cluster() -> Cluster:
    found = Cluster(nodes=3, replicas=3)
    found.agenda.run_until(60_000)
    return found


SABOTAGES: dict[str, Sabotage] = {
    "anybody may cause faults": Sabotage(
        lambda monkey: monkey.setattr(control, "MASTERS", "system:authenticated"),
        lambda *_: test_control.test_everything_else_is_refused(*test_control.REFUSED[0]),
    ),
    "the lab takes paths of Kubernetes": Sabotage(
        lambda monkey: monkey.setattr(control, "is_control", lambda request: request.path.startswith("/lab")),
        lambda *_: test_control.test_only_the_labs_own_path_is_taken(),
    ),
    "a hang is a crash": Sabotage(
        lambda monkey: monkey.setitem(FAULTS, "hang", Fault("", faults.crash)),
        lambda *_: test_faults.test_faults_do_what_they_say(a_cluster(), "hang"),
    ),
    "kubeconfigs are for all": Sabotage(
        lambda monkey: monkey.setattr(files, "_write", lambda path, text: path.write_text(text)),
        lambda *arguments: test_files.test_kubeconfigs_were_never_readable_by_others(*arguments),
    ),
    "two labs share a folder": Sabotage(
        lambda monkey: monkey.setattr("fcntl.flock", lambda *_: None),
        lambda path, _: test_files.test_one_lab_per_folder(path),
    ),
    "the agenda oversleeps": Sabotage(
        lambda monkey: monkey.setattr(RealAgenda, "at", Agenda.at),
        lambda *_: test_clock.test_a_nearer_appointment_wakes_a_sleeper(),
    ),
    "the story does not look at servers": Sabotage(
        lambda monkey: monkey.setattr(Story, "_server", lambda self, server: None),
        lambda *_: test_story.test_a_repair_is_told_step_by_step(test_story.Stage(), "hang"),
    ),
    "the story never calms down": Sabotage(
        lambda monkey: monkey.setattr(Story, "_calm", lambda self, repair: None),
        lambda *_: test_story.test_a_request_that_is_taken_back_ends_the_story(),
    ),
    "the view hides who still writes": Sabotage(
        lambda monkey: monkey.setattr(view, "node_line", lambda row, is_wide: Text(row.name)),
        lambda *_: test_view.test_danger_is_shown_where_it_is(),
    ),
    "the view has no word for a state": Sabotage(
        lambda monkey: monkey.setattr(State.HELD, "_value_", ""),
        lambda *_: test_view.test_large_clusters_show_what_matters(),
    ),
    "the view is drawn wide on small terminals": Sabotage(
        lambda monkey: monkey.setattr(view, "ROOMY", 0),
        lambda *_: test_view.test_the_view_fits_the_terminal(80, 24),
    ),
}


@pytest.mark.parametrize("name", SABOTAGES)
def test_harm_is_seen(name: str, tmp_path: Path) -> None:
    """Under the harm, the test that watches that line fails."""
    sabotage = SABOTAGES[name]
    with pytest.MonkeyPatch.context() as monkey:
        sabotage.harm(monkey)
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            sabotage.test(tmp_path, monkey)


@pytest.mark.parametrize("name", SABOTAGES)
def test_without_harm_all_is_well(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same call without the harm passes: it is the harm that fails it."""
    SABOTAGES[name].test(tmp_path, monkeypatch)
