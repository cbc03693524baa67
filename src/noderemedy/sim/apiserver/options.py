"""How a write is asked for: by whom, in whose name, how strictly, for real or not."""

from __future__ import annotations

from msgspec import Struct

from noderemedy.sim.apiserver.types import ADMIN, User


class Options(Struct, frozen=True):
    """How a write is asked for. `version` is the version of the request, "" the stored one."""

    user: User = ADMIN
    manager: str = "unknown"
    dry_run: bool = False
    force: bool = False
    strictness: str = "Warn"
    version: str = ""
    subresource: str = ""
    verb: str = "update"
