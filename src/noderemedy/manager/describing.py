"""Has installed fence agents describe themselves. Called for `DescribeAgent`, by the manager and by plans.

Where an agent is not installed it is absent, as an object that the API does not have. A plan on files asks the agents
of the machine that it runs on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from msgspec.structs import replace

from noderemedy.drivers.fence.agents import folders
from noderemedy.drivers.fence.describe import metadata
from noderemedy.model.agent import AgentDescription
from noderemedy.model.ids import Ref
from noderemedy.model.outcome import Done, Seen
from noderemedy.model.time import Mono

AT_ONCE = 4
Describe = Callable[[str], Awaitable[AgentDescription | None]]


async def describe(agent: str, where: tuple[Path, ...], *, runs_on_nodes: bool = True) -> AgentDescription | None:
    """What an agent says of itself, and whether it can be run on a node; None: it is not installed."""
    from noderemedy.wire.fenceagent import read_metadata  # loads an XML parser: no start waits for it

    text = await metadata(agent, where)
    return None if text is None else replace(read_metadata(agent, text), runs_on_nodes=runs_on_nodes)


def describe_here(agent: str, agents_path: str) -> AgentDescription | None:
    """The same on this machine, for commands that wait for nothing else."""
    return asyncio.run(describe(agent, folders(agents_path, os.environ)))


def describe_all_here(agents: Iterable[str], agents_path: str) -> list[AgentDescription | None]:
    """The same of many, in their order and a few at a time: each is a program that has to start."""
    where, lanes = folders(agents_path, os.environ), asyncio.Semaphore(AT_ONCE)

    async def one(agent: str) -> AgentDescription | None:
        async with lanes:
            return await describe(agent, where)

    async def all_of_them() -> list[AgentDescription | None]:
        return await asyncio.gather(*map(one, agents))

    return asyncio.run(all_of_them())


def described(at: Ref, begun: Mono, found: AgentDescription | None) -> Done:
    """The answer to `DescribeAgent`."""
    return Done(begun, gone=True) if found is None else Done(begun, Seen(at, "", "", found))
