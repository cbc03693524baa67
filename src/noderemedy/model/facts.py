"""The base of what rooms derive, and programs enter, besides the objects of the API. It needs nothing of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct

if TYPE_CHECKING:
    from noderemedy.model.reasons import Reason


class FactValue(Struct, frozen=True):
    """Facts have no uid: they are as old as their key's last look."""

    uid: ClassVar[str] = ""

    def if_broken(self, why: Reason) -> FactValue | None:
        """What is left of it when its room raises, or its object cannot be read: by default all, for what was so does
        not end by that.
        """
        return self

    def if_blind_for_long(self) -> FactValue:
        """What is left of it when its object could not be read for minutes: nobody may ever mend that."""
        return self
