"""Simulated days: fixed seeds, seeds that once failed, and a few that nobody has seen before.

Those that once failed are run in the worlds that they failed in (`PLAIN`): what was added since has chances of its own.
"""

from __future__ import annotations

import os
import random

import pytest

from noderemedy import rooms as rooms_table
from noderemedy.model.ids import Kind
from noderemedy.model.room import Room
from noderemedy.rooms import ROOMS
from noderemedy.sim import process
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.run import simulate
from noderemedy.sim.troubles import MINUTE_MS

FIXED = (1, 3, 4)  # for `make soak`; those of test_coverage.py are fixed, too, and have more trouble
ONCE_FAILED = [
    2,  # a hold that came and went while no Incident could be written (S15)
]
ROTATING = int(os.environ.get("NODE_REMEDY_ROTATING_SEEDS", "3"))


@pytest.mark.parametrize("seed", [*ONCE_FAILED, *(pytest.param(seed, marks=pytest.mark.soak) for seed in FIXED)])
def test_fixed_seeds(seed: int) -> None:
    """Twenty nodes through two hours of trouble: no invariant is broken."""
    report = simulate(seed, nodes=20, hours=2.0, extras=PLAIN if seed in ONCE_FAILED else None)

    assert () == report.violations


@pytest.mark.parametrize("turn", range(ROTATING))
def test_rotating_seeds(turn: int) -> None:
    """Seeds that are new in every run; a failing one is named so that it can be kept."""
    seed = random.SystemRandom().randrange(1_000_000, 1_000_000_000)
    report = simulate(seed, nodes=20, hours=2.0)

    assert () == report.violations, f"keep this seed in ONCE_FAILED: {seed}"


def test_the_host_of_a_paused_machine_stays_held_though_it_names_another() -> None:
    """Somebody changed the host's name on a paused Machine, and its hold was taken for an orphan (S8)."""
    assert () == simulate(44_039_434, nodes=20, hours=2.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_stream_does_not_go_on_from_a_list_that_never_came() -> None:
    """A simulated stream broke before its list was there, and hid an outage from a leader (seed 265, S4)."""
    assert () == simulate(265, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_hold_that_lost_its_request_is_released_before_the_next_repair() -> None:
    """A person tore a Metal3Remediation off, and a power cycle began beside its hold (seed 588, S2)."""
    assert () == simulate(588, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
@pytest.mark.parametrize("seed", [270, 517])
def test_a_boot_that_came_with_the_hold_is_its_own_hosts(seed: int) -> None:
    """It reported just when its host was held; the leader died (270), or its watch lagged (517): nobody is called."""
    assert () == simulate(seed, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_hold_that_came_after_a_word_is_told() -> None:
    """It stood for a quarter of a second, and no record said so: the word was taken for its proof (seed 867, S15)."""
    assert () == simulate(867, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_hold_on_a_host_that_its_machine_names_no_more_is_told() -> None:
    """Its Machine lost the name, the hold went at once, and the leader died before it told (seed 640, S15)."""
    assert () == simulate(640, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_hold_is_told_though_the_story_of_a_former_machine_is_not_over() -> None:
    """That record could not be closed for a while, and the hold of the next Machine went (seed 714, S15)."""
    assert () == simulate(714, nodes=50, hours=6.0).violations


@pytest.mark.soak
def test_what_an_earlier_power_cycle_left_keeps_no_mark() -> None:
    """A member's Node was back, its backup and a newer mark stayed, and no other member was repaired (seed 904, L1)."""
    assert () == simulate(904, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_no_mark_takes_over_a_hold_that_is_left() -> None:
    """Its evidence was of a wrong BMC that was corrected by then: the host stayed off for ever (seed 911, S6)."""
    assert () == simulate(911, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_pods_are_counted_by_a_list_of_the_last_minute() -> None:
    """A leader knew a node's pods from a repair an hour before, when all had gone: it asked nobody (seed 1452, S3)."""
    assert () == simulate(1452, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_sick_member_does_not_wait_for_a_mark_that_waits_for_it() -> None:
    """A member was well again, and the mark of a person was held back for the quorum: both waited (seed 1707, L1)."""
    assert () == simulate(1707, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_hold_elsewhere_waits_for_a_record_that_was_refused_once() -> None:
    """Its Machine lost the name of its host while the API refused the record: it had five seconds (seed 1784, S15)."""
    assert () == simulate(1784, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_machine_takes_with_it_what_a_leader_knew_that_is_dead() -> None:
    """It was marked, its leader died, and it was deleted, all within the pace of its record (seed 1104, S15)."""
    assert () == simulate(1104, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_host_that_was_on_again_is_not_contradicted_by_its_own_boot() -> None:
    """Another host's BMC was mixed up with its own, and switched it on while it was held (seed 1825, L1)."""
    assert () == simulate(1825, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_a_host_that_was_on_again_after_its_node_was_deleted_is_not_contradicted_either() -> None:
    """The record of the deletion was refused, so the hold stayed; the next boot was the host's own (seed 398, L1)."""
    assert () == simulate(398, nodes=50, hours=6.0).violations


@pytest.mark.soak
def test_an_owner_that_is_asked_late_has_its_half_hour() -> None:
    """A repair waited for that of its neighbour, whose owner never came, and had none either (seed 1349, L8, S15)."""
    assert () == simulate(1349, nodes=50, hours=6.0).violations


@pytest.mark.soak
def test_a_word_makes_no_second_hold() -> None:
    """A power cycle by annotation had the host when a word was given for a Metal3Remediation (seed 23, S2)."""
    assert () == simulate(23, nodes=50, hours=1.2, extras=PLAIN).violations


@pytest.mark.soak
def test_a_word_holds_nothing_that_a_person_paused() -> None:
    """Nothing new begins with what is paused, and a hold would be new (seed 142, S8)."""
    assert () == simulate(142, nodes=50, hours=2.5, extras=PLAIN).violations


@pytest.mark.soak
def test_what_is_freed_on_a_word_is_held_off_as_well() -> None:
    """A backup was dropped as left behind, since nobody held the host whose Node was about to go (seed 18)."""
    assert () == simulate(18, nodes=20, hours=6.0, extras=PLAIN).violations


def test_two_rooms_that_come_at_once_hold_a_host_once() -> None:
    """A claim left over from an earlier attempt is no claim: of the two who want the node one waits (seed 290)."""
    assert () == simulate(290, nodes=50, hours=1.8, extras=PLAIN).violations


def test_a_backup_survives_two_leaders_with_lagging_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """One leader deletes the Node; the other may not drop its backup on a live read from before that."""
    # Found by seed 105 when health checks were watched first; the order of watches decides what chance brings.

    def watched(rooms: tuple[Room, ...] = ROOMS) -> tuple[Kind, ...]:
        return tuple(sorted(rooms_table.watched(rooms), key=lambda kind: kind.kind != "MachineHealthCheck"))

    monkeypatch.setattr(process, "watched", watched)

    assert () == simulate(105, nodes=20, hours=3.0, trouble_every_ms=2 * MINUTE_MS, extras=PLAIN).violations


@pytest.mark.soak
def test_a_check_that_marks_once_more_asks_the_budget_anew() -> None:
    """It came by what had been granted to a Metal3Remediation, before its rack was to be left alone (seed 331, S3)."""
    assert () == simulate(331, nodes=50, hours=2.3).violations


@pytest.mark.soak
def test_who_leads_no_more_tells_no_more() -> None:
    """The namespace of the records was being terminated until another one led, who had seen nothing (seed 427, S15)."""
    assert () == simulate(427, nodes=50, hours=6.0, extras=PLAIN).violations


@pytest.mark.soak
def test_no_check_begins_beside_a_request_that_cannot_be_read() -> None:
    """A Metal3Remediation did not decode for some minutes, and its machine was marked meanwhile (seed 345, S2)."""
    assert () == simulate(345, nodes=50, hours=6.0).violations
