"""A secret that cannot be printed by accident.

Tokens, keys and proxy passwords travel through the driver only as `Secret`: `repr`, `str`, format strings,
tracebacks and structured logs show three dots. `reveal` is called where bytes leave the process, nowhere else.
"""

from __future__ import annotations


class Secret:
    """A value whose text is shown to nobody but the one who asks for it by name."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return "Secret(…)"


NOTHING = Secret("")
