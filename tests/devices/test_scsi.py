"""SCSI reservations: the real agent on a real SCSI disk, in a machine of its own; one node fences the other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.devices.device import needs
from tests.devices.guest import Guest
from tests.devices.scsi_story import DISK

from noderemedy.core.fencing.disks import unsteady

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/
cd {root}
PYTHONPATH=src {python} tests/devices/scsi_story.py 2>&1
"""
MODULES = ("target_core_mod", "target_core_file", "tcm_loop", "sd_mod", "sg")


STORY = {
    "b is fenced, of whom nobody knows": "failed unknown",
    "b writes, of whom nobody knows": "written",  # so nothing was to be called off
    "b is drilled, of whom nobody knows": "failed unknown",
    "a joins": "done on",
    "b is drilled, without a key": "done off",
    "b joins": "done on",
    "b is drilled": "done on",
    "b writes": "written",
    "b is fenced by its key in capitals": "done off:",  # the agent's word, and why such a key is refused in a plan
    "b writes, whose key is there": "written",
    "b is fenced by a key that it never had": "done off:",  # by which nothing is freed: it was not on
    "b is fenced by nobody's key": "failed",
    "a fences b": "done off, was on:",
    "b writes, fenced": "refused",
    "a writes": "written",
    "b returns": "done on",
    "b writes again": "written",
}


@pytest.mark.timeout(1_200)
def test_one_node_fences_the_other_whose_write_then_fails(tmp_path: Path) -> None:
    """Off takes b's registration away: its writes are refused, a's are not; on, by b itself, lets it write again.

    Before anybody was registered, b has no key either, and writes: that it is cut off is not believed then. All of it
    is done with what the Jobs mount of their nodes, and a drill on b says whether its key is there.
    """
    needs("fence_scsi", "sg_persist", "setpriv")
    script = SCRIPT.format(root=ROOT, python=sys.executable)
    printed = Guest(tmp_path, MODULES).run(script, 1_100)
    lines = [line[6:] for line in printed.splitlines() if line.startswith("STORY ")]
    told = dict(json.loads(line) for line in lines)

    assert 2 == told.pop("devices", 0), printed[-3000:]
    assert [] == [(name, told.get(name)) for name, word in STORY.items() if not told.get(name, "").startswith(word)]
    assert STORY.keys() == told.keys()
    assert "it has no reservation for registrants" in told["b is fenced, of whom nobody knows"]


@pytest.mark.parametrize("key", ["BB0002", "0bb0002", "0xbb0002"])
def test_a_key_that_the_agent_would_not_find_is_refused(key: str) -> None:
    """The story above shows what the agent makes of one: done off, and the node writes."""
    assert ["parameter key"] == [one.split(":")[0] for one in unsteady("fence_scsi", {"key": key, "devices": DISK})]
