"""The numbers by which machines are known: UUIDs, as firmware and BMCs tell them. Called by drills and by plans; pure.

Firmware writes the first parts of a UUID in either byte order, and some BMCs tell a number that is nobody's: all zeros
where none was ever stored, all ones where the memory is blank.
"""

from __future__ import annotations

import re

HEX = re.compile(r"[^0-9a-f]")
NUMBER, BETWEEN = re.compile(r"[0-9a-f]{32}", re.ASCII), re.compile(r"[\s:{}-]")
UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", re.ASCII)
NOBODY = ("0" * 32, "f" * 32)


def is_number(identity: str) -> bool:
    """Whether it is a UUID, and somebody's."""
    return UUID.fullmatch(identity.strip()) is not None and is_somebody(identity)


def is_somebody(identity: str) -> bool:
    """Whether it tells anything at all."""
    return bool(identity.strip()) and HEX.sub("", identity.lower()) not in NOBODY


def is_same_machine(one: str, other: str) -> bool:
    """Whether two identifiers mean one machine. Firmware writes the first parts of a UUID in either byte order."""
    return bool(forms_of(one) & forms_of(other))


def forms_of(identity: str) -> frozenset[str]:
    word = BETWEEN.sub("", identity.lower())
    if not NUMBER.fullmatch(word):
        return frozenset({identity.strip().lower()})
    pairs = [word[at : at + 2] for at in range(0, 32, 2)]
    mixed = [*pairs[3::-1], *pairs[5:3:-1], *pairs[7:5:-1], *pairs[8:]]
    return frozenset({word, "".join(mixed), "".join(reversed(pairs))})
