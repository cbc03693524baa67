"""Hooks that may refuse: fault injection, policy, quota. Programs append callables to `server.hooks`.

A hook is called as `hook(verb, resource, old, new, user)` before a write is committed and before a read over
HTTP is answered, and refuses by raising ApiError. Writes through a subresource have it in the verb: `patch/status`,
`create/eviction`.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.sim.apiserver.types import ResourceType, Tree, User

Hook = Callable[[str, ResourceType, Tree | None, Tree | None, User], None]


class Admission:
    """The hooks, in the order in which they were added."""

    def __init__(self) -> None:
        self.hooks: list[Hook] = []

    def check(self, verb: str, resource: ResourceType, old: Tree | None, new: Tree | None, user: User) -> None:
        for hook in tuple(self.hooks):
            hook(verb, resource, old, new, user)
