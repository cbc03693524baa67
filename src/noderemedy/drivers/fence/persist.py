"""Stands in for `sg_persist` or `mpathpersist` where an agent asks which keys are registered with a disk.

The agents call a node cut off whose key is not there. But as long as nobody holds a reservation, whoever has no key may
write, too: a disk with which no node was ever registered would prove every node cut off. So `verify.py` has them ask
through this program, which needs the standard library alone: `python persist.py PROGRAM ARGUMENTS…`.
"""

from __future__ import annotations

import re
import subprocess
import sys

KEYS, RESERVATION = "-k", "-r"  # what to read, in the words of both programs
FOR_REGISTRANTS = re.compile(r"registrants", re.IGNORECASE)  # in the name of each type that keeps all others out
NOT_HELD = (
    "it has no reservation for registrants, so that a node without a key may write; register its nodes (action=on)"
)


def main(program: str, *arguments: str) -> int:
    try:
        code, printed, complaints = asked(program, arguments)
        if code == 0 and KEYS in arguments:
            of_reservation = tuple(RESERVATION if one == KEYS else one for one in arguments)
            code, held, more = asked(program, of_reservation)
            complaints += more
            if code == 0 and not FOR_REGISTRANTS.search(held):
                code, complaints = 1, f"{complaints}Failed: {NOT_HELD}\n"
    except OSError as problem:
        code, printed, complaints = 1, "", f"Failed: {program} could not be started: {problem.strerror}\n"
    sys.stdout.write(printed)
    sys.stderr.write(complaints)
    return code


def asked(program: str, arguments: tuple[str, ...]) -> tuple[int, str, str]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout, done.stderr


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
