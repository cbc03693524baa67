"""One seed, one history: under any hash seed of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = "from noderemedy.sim.run import simulate; print(simulate(7, nodes=6, hours=1.0).digest)"


def digest(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_trace() -> None:
    """Two interpreters with different hash seeds write the same trace."""
    assert digest("1") == digest("2")


def test_another_seed_gives_another_trace() -> None:
    """The digest tells histories apart."""
    from noderemedy.sim.run import simulate

    assert simulate(7, nodes=6, hours=0.5).digest != simulate(8, nodes=6, hours=0.5).digest
