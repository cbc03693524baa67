"""SCSI reservations: the real agent on a real SCSI disk, in a machine of its own; one node fences the other."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.devices.device import needs
from tests.devices.guest import Guest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/
cd {root}
PYTHONPATH=src {python} tests/devices/scsi_story.py 2>&1
"""
MODULES = ("target_core_mod", "target_core_file", "tcm_loop", "sd_mod", "sg")


@pytest.mark.timeout(900)
def test_one_node_fences_the_other_whose_write_then_fails(tmp_path: Path) -> None:
    """Off takes b's registration away: its writes are refused, a's are not; on, by b itself, lets it write again.

    Before anybody was registered, b has no key either, and writes: that it is cut off is not believed then.
    """
    needs("fence_scsi", "sg_persist")
    script = SCRIPT.format(root=ROOT, python=sys.executable)
    printed = Guest(tmp_path, MODULES).run(script, 800)
    lines = [line[6:] for line in printed.splitlines() if line.startswith("STORY ")]
    told = dict(json.loads(line) for line in lines)

    assert 2 == told.get("devices"), printed[-3000:]
    assert told["b is fenced, of whom nobody knows"].startswith("failed unknown"), told
    assert "it has no reservation for registrants" in told["b is fenced, of whom nobody knows"]
    assert "written" == told["b writes, of whom nobody knows"], "then nothing was to be refused"
    assert told["a joins"].startswith("done on"), told
    assert told["b joins"].startswith("done on"), told
    assert "written" == told["b writes"]
    assert told["a fences b"].startswith("done off"), told
    assert "refused" == told["b writes, fenced"]
    assert "written" == told["a writes"]
    assert told["b returns"].startswith("done on"), told
    assert "written" == told["b writes again"]
