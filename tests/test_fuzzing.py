"""Properties try the same examples in every `make test`, and ever new ones, many more of them, in `make fuzz`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FUZZED = "tests/wire/test_selectortext.py"  # a property that asks for 100 examples
ASKED = re.compile(r"settings\.max_examples=(\d+)")


def asked_for(*options: str) -> list[str]:
    """How many examples the property had, as hypothesis tells it."""
    words = ["-p", "no:cacheprovider", "-m", "hypothesis", "--hypothesis-show-statistics", *options, FUZZED]
    command = [sys.executable, "-m", "pytest", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout
    return ASKED.findall(done.stdout)


@pytest.mark.parametrize(("options", "examples"), [((), "100"), (("--hypothesis-profile=rotating",), "2000")])
def test_the_profile_says_how_many_examples_at_least(options: tuple[str, ...], examples: str) -> None:
    """What a test asks for is enough for the fixed run; the rotating one does not stop there."""
    assert [examples] == asked_for(*options)
