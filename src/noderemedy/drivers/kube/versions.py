"""The one place where resource versions are compared as numbers.

They are opaque: equality is all the API promises. Time travel (an API server behind the others, a restored etcd)
can only be noticed by order, so a watch asks here; where a version is not a number, nothing is concluded.
"""

from __future__ import annotations


def is_older(version: str, than: str) -> bool:
    """Whether `version` is surely older than `than`."""
    if not (_is_number(version) and _is_number(than)):
        return False
    return int(version) < int(than)


def newer(one: str, other: str) -> str:
    """The newer of two; the second where they cannot be compared."""
    return one if is_older(other, one) else other


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit()
