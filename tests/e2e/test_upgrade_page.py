"""The upgrade page with bash and a real kubectl: what a person would type, typed, in every state of a repair.

The cluster is the simulated one, served over HTTP while its virtual time runs a hundred times as fast as ours.
`tests/sim/test_upgrade.py` goes through far more states with a kubectl of its own: this shows that the two agree.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.guide import page as pages
from tests.guide.stopped import NODE_OF, SETTLED_MS, Stopped, boundaries, variables
from tests.guide.terminal import Terminal, served

PAGE = pages.read("upgrade.md")


def find(state: str) -> Stopped:
    """The first point of the first story that leaves this state behind."""
    stories = ((story, at) for story in NODE_OF for at in range(len(boundaries(story))))
    return next(stopped for story, at in stories if (stopped := Stopped(story, at)).state() == state)


@pytest.mark.parametrize("state", PAGE.states)
def test_bash_and_kubectl_finish_every_state(state: str, binaries: dict[str, str], tmp_path: Path) -> None:
    """The blocks that the page names for a state, pasted into a shell, leave nothing behind."""
    stopped = find(state)
    terminal = Terminal(tmp_path, binaries["kubectl"])

    with served(stopped.cluster, tmp_path):
        done = terminal.paste(PAGE, PAGE.states[state], **variables(stopped.node))
    stopped.cluster.agenda.run_until(stopped.cluster.agenda.now_ms + SETTLED_MS)
    stopped.checkers.at_rest(None)

    assert 0 == done.returncode, done.stderr
    found = [line for line in stopped.checkers.violations if ": S15: " not in line]  # nobody is left to write records
    assert [] == found


def test_the_columns_show_the_state(binaries: dict[str, str], tmp_path: Path) -> None:
    """The commands that tell the state print request and hold of the node that is being repaired."""
    stopped = find("held, off")
    terminal = Terminal(tmp_path, binaries["kubectl"])

    with served(stopped.cluster, tmp_path):
        done = terminal.type(PAGE.program("Which state is it?"))

    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["metal3", "host-worker-1", "false", "machine-worker-1", '{"mode":"hard"}'] in lines
    assert ["metal3", "host-worker-2", "true", "machine-worker-2", "<none>"] in lines
    assert ["metal3", "machine-worker-1", "worker-1", "<none>"] in lines
    assert ["metal3", "machine-worker-2", "worker-2", "<none>", "<none>"] in lines


def test_a_pause_can_be_set_on_all_machines(binaries: dict[str, str], tmp_path: Path) -> None:
    """The command before an uninstall pauses every Machine of every namespace."""
    stopped = find("marked")
    terminal = Terminal(tmp_path, binaries["kubectl"])
    pause = next(block for block in PAGE.blocks["Before you uninstall"] if "kubectl" in block)

    with served(stopped.cluster, tmp_path):
        done = terminal.type(pause)

    assert 0 == done.returncode, done.stderr
    assert 3 == done.stdout.count("annotated")
