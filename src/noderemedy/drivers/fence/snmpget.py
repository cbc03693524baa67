"""Stands in for `snmpget` where an agent asks for the state of an outlet: an answer that is neither on nor off ends it.

Some agents call everything off that is not "on": an outlet that is not there, and one whose state its own device does
not know. What they print of it cannot be told from "off"; so `verify.py` has them ask through this program, which
needs the standard library alone: `python snmpget.py ANSWERS ARGUMENTS…`, where 1,2 are answers that mean something.
"""

from __future__ import annotations

import subprocess
import sys

PROGRAM = "snmpget"


def main(answers: str, *arguments: str) -> int:
    try:
        asked = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, errors="replace", check=False)
    except OSError as problem:
        sys.stdout.write(f"Failed: {PROGRAM} could not be started: {problem.strerror}\n")
        return 1
    sys.stdout.write(shown(asked.stdout, asked.stderr))
    if asked.returncode == 0 and (why := odd(asked.stdout, answers.split(","))):
        sys.stdout.write(f"{why}\n")
        return 1
    return asked.returncode


def shown(printed: str, complained: str) -> str:
    """All of it, the answer last: agents take the last line for it, whoever printed that, and all but on for off."""
    return "".join(f"{line}\n" for line in complained.splitlines()) + printed


def odd(printed: str, answers: list[str]) -> str:
    """Why an answer means nothing; "" if it does. As agents read it: in the last line, after the name of the object, to
    the letter: to them a blank behind "1" is off.
    """
    last = (printed.splitlines() or [""])[-1]
    answer = (*last.split(None, 1), "", "")[1]
    return (
        "" if answer in answers else f"Failed: the device answered {answer or 'nothing'}, which is neither on nor off"
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
