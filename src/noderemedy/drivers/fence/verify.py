"""Carries out one order: the deed, then the device is asked twice whether it is so. Called where runs happen.

`Hand` is what the manager and the runner have in common: where agents are, and how long to wait between two looks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core.fencing import disks, results, staleness
from noderemedy.drivers.fence import agents, files, standins
from noderemedy.drivers.fence.identity import identify
from noderemedy.drivers.fence.process import run_agent
from noderemedy.model.run import Deed, Order, Power, Result, RunState
from noderemedy.model.time import Span

LEAST_LOOK_S = 5.0  # an agent that used up all the time still gets asked what came of it
MORE_S = 60.0  # what looking, and asking a device who it is, may take longer than the patience


class Hand(Struct, frozen=True):
    """What carrying out an order takes."""

    folders: tuple[Path, ...]
    environ: Mapping[str, str] | None = None
    between_looks: Span = results.BETWEEN_LOOKS
    hear: Callable[[str], object] | None = None  # who is told all that agents print, free of secrets; None: nobody
    scratch: Path | None = None  # where secrets are written that agents want as files; None: in memory, if possible


async def carry_out(order: Order, secrets: Mapping[str, str], hand: Hand) -> Result:
    """Do what is ordered, and verify it. `secrets` are values by parameter."""
    path = agents.find(order.agent, hand.folders)
    if path is None:
        remedy = "install it (with --agents job: in the remedy image), or name its folder by --agents-path"
        return results.not_begun(order, f"there is no agent {order.agent} here; {remedy}")
    if broken := [name for name, value in order.parameters if "\n" in value or "\r" in value]:
        return results.not_begun(order, f"parameter {broken[0]} has more than one line; correct the fence method")
    begun = time.monotonic()
    try:
        with files.handed(secrets, order.patience.ms / 1000 + MORE_S, hand.scratch) as given:
            result = await _Run(order, given, files.words_of(secrets), hand, path).result()
    except files.NotWritten as problem:
        return results.not_begun(order, str(problem))
    return replace(result, took=Span.seconds(time.monotonic() - begun))


class _Run:
    """One order under way."""

    def __init__(self, order: Order, given: Mapping[str, str], hidden: tuple[str, ...], hand: Hand, path: Path) -> None:
        self._order = order
        self._hand = hand
        self._path = path
        self._given = (*order.parameters, *sorted(given.items()))
        self._hidden = hidden
        self._deadline = time.monotonic() + order.patience.ms / 1000

    async def result(self) -> Result:
        if self._order.deed is Deed.STATUS:
            return await self._status()
        has_disks = self._order.deed is Deed.OFF and bool(disks.each(self._order))
        was_on = has_disks and not await self._without_its_key()
        deed = await self._ask(self._order.deed.value)
        if deed.exit_code != 0:
            return replace(results.of_deed(self._order, deed, (), self._hidden), was_on=was_on)
        looks = []
        for number in range(results.LOOKS):
            if number:
                await asyncio.sleep(self._hand.between_looks.ms / 1000)
            looks.append(await self._ask(Deed.STATUS.value, LEAST_LOOK_S))
        is_off = results.is_so(tuple(look.power for look in looks), Power.OFF)
        found = results.of_deed(self._order, deed, tuple(looks), self._hidden, await self._list(is_off))
        return replace(found, was_on=was_on)

    async def _status(self) -> Result:
        """A drill asks for the list also of what is on: it shows whether an "off" would be believed."""
        is_drill = not staleness.belongs_to_a_fence(self._order)
        ended = await self._ask(Deed.STATUS.value)
        is_on_some = ended.power is Power.ON and len(disks.each(self._order)) > 1
        if is_drill and is_on_some and (bare := await self._without_its_key()):
            return results.failed(self._order, f"its key is not at {bare}, but at others; let action=on register it")
        is_telling = ended.power is Power.OFF or (is_drill and ended.power is Power.ON)
        found = results.of_status(self._order, ended, self._hidden, await self._list(is_telling))
        if not is_drill or found.state is not RunState.DONE:
            return found
        return replace(found, identity=await identify(self._order.agent, dict(self._given)))

    async def _without_its_key(self) -> str:
        """The first disk that lacks the key; "" if none does. Of several the agent says on if one has it, and off is
        said of a key that was never there.
        """
        for one in disks.each(self._order):
            if (await self._ask(Deed.STATUS.value, devices=one)).power is not Power.ON:
                return one
        return ""

    async def _list(self, is_telling: bool) -> results.Ended | None:
        """All outlets, where what the agent says is believed only by them."""
        return await self._ask(results.LIST, LEAST_LOOK_S) if is_telling and results.needs_list(self._order) else None

    async def _ask(self, action: str, least_s: float = 0.0, **instead: str) -> results.Ended:
        left = max(self._deadline - time.monotonic(), least_s)
        through = standins.for_status(self._order.agent) if action == Deed.STATUS.value else ()
        kept = [(name, value) for name, value in self._given if name not in instead]
        given = (*kept, *instead.items(), *through, ("action", action))
        ended = await run_agent(self._path, given, left, environ=self._hand.environ)
        if self._hand.hear is not None:
            self._hand.hear(results.transcript(action, ended, self._hidden))
        return ended
