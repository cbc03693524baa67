"""A few dense histories have met what is on the list of `sim/sometimes.py`; a soak holds all of its own against it.

Seeds are run one after the other until everything on the list was met: what chance brings late costs time, and what it
never brings is a red build. `make soak` runs all of them.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter

import pytest
from tests.sim.covering import met, until_met

from noderemedy.core import safety
from noderemedy.model import actions
from noderemedy.sim.__main__ import coverage
from noderemedy.sim.run import Report, simulate
from noderemedy.sim.sometimes import FREED_BY, GATES_ELSEWHERE, SELDOM, WANTED, all_gates
from noderemedy.sim.troubles import MINUTE_MS

# In which all was met when they were chosen; after a change others may be needed, too.
SOONEST = (131, 182, 194, 140, 163, 142, 160, 105, 104)
SEEDS = (*SOONEST, *(seed for seed in range(101, 125) if seed not in SOONEST))


pytestmark = pytest.mark.timeout(600)  # the first test waits for all seeds


@pytest.fixture(scope="module")
def reports() -> list[Report]:
    """A trouble every minute, seed after seed until nothing on the list is missing."""
    return until_met(WANTED, SEEDS, dense)


def dense(seed: int) -> Report:
    return simulate(seed, nodes=20, hours=2.0, trouble_every_ms=MINUTE_MS)


def test_nothing_is_violated(reports: list[Report]) -> None:
    """Simulated days in a storm of troubles are quiet ones for the checkers."""
    broken = {report.seed: report.violations for report in reports}

    assert {} == {seed: lines for seed, lines in broken.items() if lines}


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
def test_no_seed_violates_anything(seed: int) -> None:
    """Those that nothing is left for, too."""
    assert () == dense(seed).violations


@pytest.mark.parametrize("what", WANTED)
def test_everything_is_met(what: str, reports: list[Report]) -> None:
    """Each action, trouble, checker, gate, way of freeing, transition, fault outlived, step with a new leader: once."""
    assert set() == WANTED[what] - met(reports, what)


def test_every_way_to_free_is_on_the_list() -> None:
    """An action that takes a proof, or a proof that is made, cannot be forgotten here."""
    proven = {kind.__name__ for kind in vars(actions).values() if "proof" in getattr(kind, "__struct_fields__", ())}
    made = set(re.findall(r"return (\w+)\(", inspect.getsource(safety))) & {"PoweredOff", "InstanceGone"}
    pairs = [pair.split(" on ") for pair in FREED_BY]

    assert (proven, made) == ({action for action, _ in pairs}, {proof for _, proof in pairs})


def test_a_gate_elsewhere_is_a_gate() -> None:
    """Whoever renames or removes a gate looks at the exceptions, too."""
    assert set() == GATES_ELSEWHERE - all_gates()


def test_a_soak_says_what_it_has_never_seen() -> None:
    """Few histories may miss something; a full count that never saw it has failed."""
    seen = {what: Counter(WANTED.get(what, set()) | SELDOM.get(what, set())) for what in WANTED}
    assert ([], False) == coverage(seen, is_fenced=False, seeds=2_000)
    seen["leaders"].pop("power cycle: held")
    seen["outlived"].pop("410 of Node")

    lines = ["never seen: leaders: power cycle: held", "never seen: outlived: 410 of Node"]
    assert (lines, False) == (sorted(coverage(seen, is_fenced=False, seeds=499)[0]), coverage(seen, False, 499)[1])
    assert coverage(seen, is_fenced=False, seeds=500)[1]
