"""Orders at shared disks: every disk is asked for the key by itself, before it is taken away and in a drill."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.core.fencing.orders import ORDER
from tests.drivers.fence.scripted import hand

from noderemedy.drivers.fence.verify import carry_out
from noderemedy.model.ids import NODE, ref
from noderemedy.model.run import Deed, Order, Power, Result, RunState

# As the real one: on if any disk has the key, and off is said of a key that was never there.
AGENT = """#!/bin/sh
while read line; do eval "$(echo "$line" | sed "s/=\\(.*\\)/='\\1'/")"; done
cd {folder}
found=2
for disk in $(echo "$devices" | tr , ' '); do
  case $action in
    off) rm -f "$disk/$key" ;;
    status) if [ -e "$disk/$key" ]; then found=0; fi ;;
  esac
done
if [ "$action" = status ]; then exit $found; fi
"""
DRILL = ref(NODE, "worker-0")


def carried_out(folder: Path, deed: Deed, *having: str, drill: bool = False) -> Result:
    """Two disks, some of which have the key."""
    for disk in ("one", "two"):
        (folder / disk).mkdir()
        if disk in having:
            (folder / disk / "a1").touch()
    (folder / "fence_scsi").write_text(AGENT.format(folder=folder))
    (folder / "fence_scsi").chmod(0o755)
    order: Order = replace(
        ORDER, agent="fence_scsi", deed=deed, secrets=(), parameters=(("devices", "one,two"), ("key", "a1"))
    )
    order = replace(order, fence=DRILL) if drill else order
    return asyncio.run(carry_out(order, {}, hand(folder)))


@pytest.mark.parametrize(
    ("having", "was_on"), [(("one", "two"), True), (("one",), False), (("two",), False), ((), False)]
)
def test_a_key_is_looked_for_before_it_is_taken_away(having: tuple[str, ...], was_on: bool, tmp_path: Path) -> None:
    """The disks say off afterwards either way; only what had it everywhere was cut off by that."""
    result = carried_out(tmp_path, Deed.OFF, *having)

    assert (RunState.DONE, Power.OFF, was_on) == (result.state, result.power, result.was_on)
    assert [] == list(tmp_path.glob("*/a1"))


@pytest.mark.parametrize(
    ("having", "state", "power"),
    [
        (("one", "two"), RunState.DONE, Power.ON),
        (("one",), RunState.FAILED, Power.UNKNOWN),
        ((), RunState.DONE, Power.OFF),
    ],
)
def test_a_drill_misses_the_key_at_any_disk(
    having: tuple[str, ...], state: RunState, power: Power, tmp_path: Path
) -> None:
    """The agent says on if one of them has it; then the other one is named."""
    result = carried_out(tmp_path, Deed.STATUS, *having, drill=True)

    assert (state, power) == (result.state, result.power)
    assert (state is RunState.FAILED) is ("its key is not at two, but at others" in result.said)


def test_a_fence_calls_nothing_off_that_one_disk_still_has(tmp_path: Path) -> None:
    """Whether it is cut off is asked of all disks together: one key is enough to write."""
    assert Power.ON is carried_out(tmp_path, Deed.STATUS, "two").power
