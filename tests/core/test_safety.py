"""The only maker of proofs: when it makes one, and all the cases in which it does not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.builders import NOW, a_hold, a_host, a_node, absent, later, present

from noderemedy.core.safety import is_confirmed, is_fresh, powered_off
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.meta import Malformed
from noderemedy.model.node import Condition
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.time import Mono

OFF = a_host(power=Power.OFF, held=True)
SILENT = a_node(ready="Unknown")


def test_a_host_held_and_seen_off_is_a_proof() -> None:
    """The proof names the node's uid and boot, the host and its version, and when it was held and seen."""
    proof = powered_off(SILENT, present(OFF, version="9"), NOW)

    assert PoweredOff(Subject("node-uid-1", "boot-1"), "host-uid-1", "9", NOW.wall, a_hold().since) == proof


@pytest.mark.parametrize(
    "host",
    [
        replace(OFF, power=Power.ON),
        replace(OFF, power=Power.UNKNOWN),
        replace(OFF, held=False),
        replace(OFF, held=False, hold=None),
        replace(OFF, paused=True),
        replace(OFF, detached=True),
        replace(OFF, state="deprovisioning"),
        replace(OFF, status="servicing"),
        replace(OFF, deleting=True),
        replace(OFF, power_off_disabled=True),
    ],
)
def test_anything_less_is_none(host: Host) -> None:
    """Not off, unknown, not held by us, not looked after by anybody, or in no state in which that would count."""
    assert powered_off(SILENT, present(host), NOW) is None


@pytest.mark.parametrize("ready", ["True", "False"])
def test_a_node_that_reports_runs_elsewhere(ready: str) -> None:
    """Its BMC's address is another machine's: that one was switched off."""
    assert powered_off(a_node(ready=ready), present(OFF), NOW) is None


@pytest.mark.parametrize(
    ("seconds", "is_proof"), [(-3_600, True), (60, True), (900, True), (901, False), (7_500, False), (7_501, True)]
)
def test_a_silence_that_began_long_after_is_no_proof(seconds: float, is_proof: bool) -> None:
    """A node that was heard when its host had been off for ten minutes runs on another one, silent or not; a silence
    of the future tells no time."""
    off_at, now = NOW.wall, later(7_200)
    node = replace(SILENT, conditions=(Condition("Ready", "Unknown", later(seconds).wall),))

    assert is_proof == (powered_off(node, present(OFF, now=now), now, off_at=off_at) is not None)


def test_a_cached_state_is_no_proof() -> None:
    """The host must have been read live within five seconds, counted from the begin of that read."""
    assert powered_off(SILENT, present(OFF, confirmed=False), NOW) is None
    assert powered_off(SILENT, present(OFF), later(5)) is not None
    assert powered_off(SILENT, present(OFF), later(5.001)) is None


@pytest.mark.parametrize("field", ["held_for", "fenced_for"])
@pytest.mark.parametrize(
    ("record", "is_proof"),
    [(a_hold(), True), (replace(a_hold(), was_on=False), False), (Malformed("x"), False), (None, False)],
)
def test_a_hold_for_a_request_proves_by_its_record_alone(
    field: str, record: Hold | Malformed | None, is_proof: bool
) -> None:
    """One without a record may be anybody's: admission leaves the key to whoever edits hosts."""
    host = replace(a_host(power=Power.OFF), **{field: (("uid-7", record),)})

    assert is_proof == (powered_off(SILENT, present(host), NOW, "uid-7") is not None)


def test_a_hold_without_a_readable_record_has_no_time() -> None:
    """The proof stands on what the host says now; the record only dates it."""
    proof = powered_off(SILENT, present(replace(OFF, hold=Malformed("garbage"))), NOW)

    assert proof is not None
    assert proof.held_since is None


def test_what_was_never_read_live_is_not_fresh() -> None:
    """No live read is not a live read of long ago: both are refused, for presence and for absence."""
    assert not is_fresh(None, NOW)
    assert not is_fresh(Mono(NOW.mono.ms - 5_001), NOW)
    assert is_fresh(Mono(NOW.mono.ms - 5_000), NOW)
    assert is_confirmed(absent(), NOW)
    assert not is_confirmed(absent(confirmed=False), NOW)
