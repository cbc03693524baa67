"""The eight bytes of a crash kernel, and nothing else."""

from __future__ import annotations

import struct

import pytest

from noderemedy.wire.kdump import is_dump


@pytest.mark.parametrize(
    ("datagram", "expected"),
    [
        (struct.pack("<II", 0x1B302A40, 1), True),
        (struct.pack(">II", 0x1B302A40, 1), True),
        (struct.pack("<II", 0x1B302A40, 2), False),
        (struct.pack("<II", 0x1B302A41, 1), False),
        (struct.pack("<II", 0x1B302A40, 1) + b"\0", False),
        (struct.pack("<II", 0x1B302A40, 1)[:7], False),
        (b"", False),
    ],
)
def test_what_is_a_dump(datagram: bytes, expected: bool) -> None:
    """Magic and version in either byte order, exactly eight bytes."""
    assert expected == is_dump(datagram)
