"""What stands in for `snmpget`: by its answer an outlet is on, or off, or nobody knows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from noderemedy.drivers.fence.snmpget import odd
from noderemedy.drivers.fence.verify import SNMPGET

OID = ".1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.1"
ARGUMENTS = ("-v", "2c", "127.0.0.1", OID)
ODD = ", which is neither on nor off"
ANSWERED = [  # why, what snmpget prints, what is said of it
    ("on", f"{OID} 1\n", ""),
    ("off", f"{OID} 2\r\n", ""),
    ("unknown", f"{OID} 4\n", f"answered 4{ODD}"),
    ("two digits", f"{OID} 12\n", f"answered 12{ODD}"),
    ("a list", f"{OID} 1,2\n", f"answered 1,2{ODD}"),
    ("no outlet", f"{OID} No Such Instance currently exists at this OID\n", "answered No Such Instance"),
    ("words before it", f"Warning: x\n{OID} 2\n", ""),
    ("words after it", f"{OID} 2\nbye\n", f"answered nothing{ODD}"),
    ("nothing", "", f"answered nothing{ODD}"),
]


@pytest.mark.parametrize(("printed", "said"), [row[1:] for row in ANSWERED], ids=[row[0] for row in ANSWERED])
def test_an_answer_is_on_or_off_or_odd(printed: str, said: str) -> None:
    """Only what the device has for on and off means something."""
    found = odd(printed, ["1", "2"])

    assert said in found
    assert bool(said) == bool(found)


@pytest.mark.parametrize(
    ("printed", "code", "ours"),
    [(f"{OID} 2\n", 0, 0), (f"{OID} 4\n", 0, 1), ("Timeout: No Response\n", 1, 1), (f"{OID} 2\n", 3, 3)],
)
def test_it_is_a_program_that_needs_nothing(printed: str, code: int, ours: int, tmp_path: Path) -> None:
    """As an agent starts it, without any package of ours: it prints and fails as snmpget does, and at odd answers."""
    program = tmp_path / "snmpget"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\necho "{printed.strip()}"\nexit {code}\n')
    program.chmod(0o755)
    done = asked(f"{tmp_path}:/usr/bin:/bin")

    assert (ours, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(printed)
    assert ("neither on nor off" in done.stdout) == (ours != code)
    assert " ".join(ARGUMENTS) == (tmp_path / "arguments").read_text().strip()


def test_a_machine_without_snmpget_says_so(tmp_path: Path) -> None:
    """The agent's message names the program that is missing."""
    done = asked(str(tmp_path))

    assert (1, "Failed: snmpget could not be started: No such file or directory\n") == (done.returncode, done.stdout)


def asked(path: str) -> subprocess.CompletedProcess[str]:
    words = [*SNMPGET, "1,2", *ARGUMENTS]
    return subprocess.run(words, capture_output=True, text=True, env={"PATH": path}, timeout=60, check=False)
