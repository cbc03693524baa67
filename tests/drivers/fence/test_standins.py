"""What stands in for programs of agents: by its answer an outlet is on, or off, or nobody knows; a disk is reserved."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzzing import in_time

from noderemedy.core.fencing.scopes import ANSWERS, RESERVED
from noderemedy.drivers.fence.snmpget import odd, shown
from noderemedy.drivers.fence.standins import for_status

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
    ("a blank after it", f"{OID} 1 \n", f"answered 1 {ODD}"),  # agents take only "1" for on, and call that off
    ("a name with a tab", "a\tb 1\n", f"answered b 1{ODD}"),
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
def test_snmpget_prints_and_fails_as_it_does_and_at_odd_answers(
    printed: str, code: int, ours: int, tmp_path: Path
) -> None:
    """As an agent starts it, without any package of ours."""
    install(tmp_path, "snmpget", f"echo '{printed.strip()}'; exit {code}")
    done = asked("fence_apc_snmp", ARGUMENTS, tmp_path)

    assert (ours, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(printed)
    assert ("neither on nor off" in done.stdout) == (ours != code)
    assert [" ".join(ARGUMENTS)] == asked_of(tmp_path)


@pytest.mark.parametrize("answer", ["1", "2"])
def test_what_snmpget_complains_of_is_not_its_answer(answer: str, tmp_path: Path) -> None:
    """Agents read the last line of all that is printed: an outlet that is on was off by a complaint behind it."""
    install(
        tmp_path, "snmpget", f"echo '{OID} {answer}'; echo 'Created directory: /var/lib/snmp' >&2; printf 'no end' >&2"
    )
    done = asked("fence_apc_snmp", ARGUMENTS, tmp_path)

    assert (0, answer) == (done.returncode, as_agents_read(done.stdout + done.stderr))


def as_agents_read(printed: str) -> str:
    """The state of an outlet, by all that a program printed on their terminal."""
    lines = printed.splitlines() or [""]
    return (*lines[-1].split(None, 1), "", "")[1]


PIECES = [OID, "1", "2", "4", " ", "\t", "\n", "\r", "\x0b", "\u2028"]
garbage = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
line = st.tuples(
    garbage, st.sampled_from(["\n", ""]), st.just(OID), *map(st.sampled_from, ([" ", "\t"], "124", PIECES))
)


@settings(max_examples=200)
@given(garbage | line.map("".join), garbage)
def test_an_answer_that_passes_is_the_one_that_agents_read(printed: str, complained: str) -> None:
    """Whatever snmpget prints where: no agent takes anything for off that we did not take for on or off."""
    with in_time():
        passes = not odd(printed, ["1", "2"])
        read = as_agents_read(shown(printed, complained))

    assert read in ("1", "2") or not passes


KEYS = "  PR generation=0x2, 1 registered reservation key follows:\n    0xaa0001"
TYPE = "Write Exclusive, registrants only"
WERO = f"  PR generation=0x2, Reservation follows:\n    Key=0xaa0001\n    scope: LU_SCOPE,  type: {TYPE}"
OF_MULTIPATH = f"    PR generation=0x2, Reservation follows:\n   Key = 0xaa\n  Type = {TYPE}"
HELD = [  # why, what is printed about the reservation, with which exit code, ours
    ("held", WERO, 0, 0),
    ("held, in the words of multipath", OF_MULTIPATH, 0, 0),
    ("nobody holds it", "  PR generation=0x2, there is NO reservation held", 0, 1),
    ("held by one alone", WERO.replace(", registrants only", ""), 0, 1),
    ("nothing is said", "", 0, 1),
    ("it cannot be read", WERO, 5, 5),
]


@pytest.mark.parametrize("agent", RESERVED)
@pytest.mark.parametrize(("held", "code", "ours"), [row[1:] for row in HELD], ids=[row[0] for row in HELD])
def test_a_key_that_is_not_there_means_something_on_a_reserved_disk(
    agent: str, held: str, code: int, ours: int, tmp_path: Path
) -> None:
    """Who has no key may write to any other: then the agent fails before it calls the node cut off."""
    program = RESERVED[agent][1]
    install(tmp_path, program, f"case \"$*\" in *-k*) echo '{KEYS}';; *) echo '{held}'; exit {code};; esac")
    done = asked(agent, ("-n", "-i", "-k", "-d", "/dev/sdx"), tmp_path)

    assert (ours, f"{KEYS}\n") == (done.returncode, done.stdout)
    assert ("it has no reservation for registrants" in done.stderr) == (ours != code)
    assert ["-n -i -k -d /dev/sdx", "-n -i -r -d /dev/sdx"] == asked_of(tmp_path)


@pytest.mark.parametrize("agent", RESERVED)
def test_what_is_not_asked_for_keys_is_passed_on(agent: str, tmp_path: Path) -> None:
    """Nothing is added, also not to what fails."""
    install(tmp_path, RESERVED[agent][1], "echo out; echo err >&2; exit 7")
    done = asked(agent, ("-n", "-i", "-r", "-d", "/dev/sdx"), tmp_path)

    assert (7, "out\n", "err\n") == (done.returncode, done.stdout, done.stderr)
    assert ["-n -i -r -d /dev/sdx"] == asked_of(tmp_path)


@pytest.mark.parametrize("agent", [*ANSWERS, *RESERVED])
def test_a_machine_without_the_program_says_so(agent: str, tmp_path: Path) -> None:
    """The agent's message names what is missing."""
    done = asked(agent, ARGUMENTS, tmp_path)
    program = RESERVED[agent][1] if agent in RESERVED else "snmpget"

    assert 1 == done.returncode
    assert f"Failed: {program} could not be started: No such file or directory\n" == done.stdout + done.stderr


def install(folder: Path, name: str, script: str) -> None:
    """A program of that name, which keeps what it was asked."""
    program = folder / name
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {folder}/asked\n{script}\n')
    program.chmod(0o755)


def asked(agent: str, arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """As agents do it: the parameter is split, and their arguments come behind it."""
    ((_, line),) = for_status(agent)
    words = [*shlex.split(line), *arguments]
    return subprocess.run(words, capture_output=True, text=True, env={"PATH": str(folder)}, timeout=60, check=False)


def asked_of(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()
