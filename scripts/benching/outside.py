"""The manager beside its yardstick, from outside: both follow the same API server through the same events.

For each size: start both and take the time until they are in step; leave them alone; beat hearts; mark machines one
by one and play the hardware until each repair is over; mark many at once. `table.py` has the targets.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

from benching import objects
from benching.fleet import Fleet, until
from benching.measured import Manager, Measured, a_yardstick

SETTLE_S = 1.0
SLICES = 7


async def measure(kubeconfig: Path, folder: Path, sizes: list[int], plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Figures for each size, smallest first."""
    found = []
    async with Fleet(kubeconfig) as fleet:
        await fleet.install()
        for size in sizes:
            print(f"  {size} nodes: loading", flush=True)
            begun = time.monotonic()
            await fleet.grow(size)
            print(f"  {size} nodes: loaded in {time.monotonic() - begun:.0f} s, measuring", flush=True)
            found.append(await one_size(fleet, kubeconfig, folder, size, plan))
    return found


async def one_size(fleet: Fleet, kubeconfig: Path, folder: Path, size: int, plan: dict[str, Any]) -> dict[str, Any]:
    figures: dict[str, Any] = {"nodes": size, "bytesPerNode": await fleet.bytes_per_node()}
    bare = a_yardstick(kubeconfig, folder)
    figures["bareSyncS"] = await asyncio.to_thread(bare.wait_for, "synced")
    manager = Manager(kubeconfig, folder)
    figures["syncS"] = await asyncio.to_thread(manager.wait_for, "caches are in step")
    await asyncio.to_thread(manager.wait_for, "this manager leads")
    try:
        await asyncio.sleep(SETTLE_S)
        await idle(fleet, manager, figures, plan["idle"])
        await heartbeats(fleet, bare, manager, figures, plan)
        async with Fleet(kubeconfig) as hands:
            hands.size = size
            await hands.watch()
            await repairs(hands, manager, figures, min(plan["repairs"], size))
            await burst(hands, figures, min(plan["burst"], size))
    except SystemExit:
        print(f"the manager's last words:\n{manager.words.read_text()[-3000:]}", flush=True)
        raise
    finally:
        manager.end()
        bare.end()
    async with Fleet(kubeconfig) as hands:
        await hands.call_off(range(min(plan["burst"], size)))
    return figures


async def idle(fleet: Fleet, manager: Manager, figures: dict[str, Any], seconds: float) -> None:
    """Nothing happens: no effects, no events, hardly any CPU."""
    effects, events, cpu = manager.effects(), await fleet.events(), manager.cpu_s()
    await asyncio.sleep(seconds)
    figures["idleCores"] = (manager.cpu_s() - cpu) / seconds
    figures["idleWrites"] = manager.effects() - effects + await fleet.events() - events


async def heartbeats(
    fleet: Fleet, bare: Measured, manager: Measured, figures: dict[str, Any], plan: dict[str, Any]
) -> None:
    """In slices, of which the median counts: others share this machine, and a slice of theirs is soon over."""
    slices = []
    for _ in range(SLICES):
        before = bare.cpu_s(), manager.cpu_s()
        sent = await fleet.beat(plan["rate"], plan["seconds"] / SLICES)
        await asyncio.sleep(SETTLE_S / 2)
        slices.append((sent, (bare.cpu_s() - before[0]) / sent * 1e6, (manager.cpu_s() - before[1]) / sent * 1e6))
    figures["heartbeats"] = sum(sent for sent, _, _ in slices)
    figures["bareUsPerEvent"] = statistics.median(cost for _, cost, _ in slices)
    figures["usPerEvent"] = statistics.median(cost for _, _, cost in slices)
    figures["bareMb"], figures["mb"] = bare.memory_mb(), manager.memory_mb()
    figures["peakMb"] = manager.memory_mb("VmHWM")


async def repairs(fleet: Fleet, manager: Manager, figures: dict[str, Any], count: int) -> None:
    """Whole repairs, one after the other at first (latency), then all of them to their end (requests)."""
    effects, events = manager.effects(), await fleet.events()
    latencies = []
    for number in range(count):
        name = objects.name_of(number)
        begun = await fleet.mark(number)
        await until(lambda name=name: name in fleet.held, f"{name} is held", 0.001)  # type: ignore[misc]
        latencies.append((fleet.held[name] - begun) * 1000)
    names = {objects.name_of(number) for number in range(count)}
    await asyncio.gather(*(fleet.power(number, False) for number in range(count)))
    await until(lambda: names <= fleet.gone and names <= fleet.released, "nodes are gone and hosts released")
    fleet.clean.clear()
    await asyncio.gather(*(fleet.come_back(number) for number in range(count)))
    await until(lambda: names <= fleet.clean, "nodes are restored")
    await asyncio.sleep(SETTLE_S)
    figures["repairs"] = count
    figures["holdMsP50"] = statistics.median(latencies)
    figures["holdMsP99"] = percentile(latencies, 0.99)
    figures["requestsPerRepair"] = (manager.effects() - effects) / count
    figures["eventsPerRepair"] = (await fleet.events() - events) / count


async def burst(fleet: Fleet, figures: dict[str, Any], count: int) -> None:
    """Many machines are marked at once: how long after the last mark, which is our own work, is the last one held?"""
    fleet.held.clear()
    begun = time.monotonic()
    await asyncio.gather(*(fleet.mark(number) for number in range(count)))
    figures["burst"] = count
    marked = time.monotonic()
    await until(lambda: len(fleet.held) >= count, f"{count} hosts are held")
    figures["burstMarkedS"] = marked - begun
    figures["burstHeldS"] = max(0.0, max(fleet.held.values()) - marked)


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]
