"""The manager beside its yardstick, from outside: both follow the same API server through the same events.

For each size: start both, several times, and take the time until they are in step; leave them alone; beat hearts;
repair machines that were marked, one by one, to the end; let nodes fall sick one by one, many at one moment, and more
than a limit allows. `table.py` has the targets.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

from benching import checks, objects, remediations
from benching.checks import Patients
from benching.counting import Requests, per_repair
from benching.fleet import Fleet, until
from benching.measured import Manager, Measured, a_yardstick
from benching.servers import Server

SETTLE_S = 1.0

Figures = dict[str, Any]
Plan = dict[str, Any]


async def measure(server: Server, folder: Path, sizes: list[int], plan: Plan) -> list[Figures]:
    """Figures for each size, smallest first."""
    found = []
    async with Fleet(server.kubeconfig) as fleet:
        await fleet.install()
        await Patients(fleet).install()
        for size in sizes:
            print(f"  {size} nodes: loading", flush=True)
            begun = time.monotonic()
            await fleet.grow(size)
            print(f"  {size} nodes: loaded in {time.monotonic() - begun:.0f} s, measuring", flush=True)
            found.append(await one_size(fleet, server, folder, size, plan))
    return found


async def one_size(fleet: Fleet, server: Server, folder: Path, size: int, plan: Plan) -> Figures:
    figures: Figures = {"nodes": size, "bytesPerNode": await fleet.bytes_per_node()}
    patients = Patients(fleet, plan["timeout"])
    bare, manager = await starts(server, folder, patients, figures, plan["starts"])
    requests = Requests(server.log)
    try:
        await asyncio.sleep(SETTLE_S)
        await calm(requests, plan["calm"])
        await idle(fleet, manager, requests, figures, plan["idle"])
        await heartbeats(fleet, bare, manager, figures, plan)
        async with Fleet(server.kubeconfig) as hands:
            hands.size = size
            await hands.watch()
            await repairs(hands, manager, requests, figures, plan)
            await remediated(hands, manager, requests, figures, plan)
        async with patients.watching():
            await sickness(patients, manager, requests, figures, plan)
            if checks.HAS_BUDGETS:
                await storm(patients, figures, plan["storm"])
                await limit(patients, figures, plan["quiet"])
        figures["stormMb"] = manager.memory_mb("VmHWM")
    except SystemExit:
        print(f"the manager's last words:\n{manager.last_words()}", flush=True)
        raise
    finally:
        manager.end()
        bare.end()
    await patients.drop_checks()
    return figures


async def starts(
    server: Server, folder: Path, patients: Patients, figures: Figures, times: int
) -> tuple[Measured, Manager]:
    """Several starts of both, of which the medians count: what a list costs a server is not the same every time."""
    found: list[tuple[float, float, float]] = []
    while True:
        bare = a_yardstick(server.kubeconfig, folder)
        synced = await asyncio.to_thread(bare.wait_for, "synced")
        await patients.make_checks()
        manager = Manager(server.manager, folder)
        found.append((synced, *await start(manager, patients, figures["nodes"])))
        if len(found) == times:
            break
        manager.end()
        bare.end()
        await patients.drop_checks()
    for name, values in zip(("bareSyncS", "syncS", "verdictsS"), zip(*found, strict=True), strict=True):
        figures[name] = statistics.median(values)
    return bare, manager


async def start(manager: Manager, patients: Patients, size: int) -> tuple[float, float]:
    """Until it is in step, and until the status of a check counts all its machines."""
    try:
        synced = await asyncio.to_thread(manager.wait_for, "caches are in step")
        targets = len(objects.numbers_of("open", size))
        await until(lambda: patients.verdicts_published("open", targets), "verdicts are published", 0.02)
        told = time.monotonic() - manager.begun
        await asyncio.to_thread(manager.wait_for, "this manager leads")
    except SystemExit:
        print(f"the manager's last words:\n{manager.last_words()}", flush=True)
        raise
    return synced, told


async def calm(requests: Requests, seconds: float) -> None:
    """Wait until nothing was written for so long: the statuses of a start may come ten seconds after the verdicts."""
    requests.since()
    quiet_since = time.monotonic()
    while requests.is_counted and time.monotonic() - quiet_since < seconds:
        await asyncio.sleep(min(1.0, seconds))
        if any(not is_read(what) for what in requests.since()):
            quiet_since = time.monotonic()


def is_read(what: str) -> bool:
    return what.split()[0] in ("get", "list")


async def idle(fleet: Fleet, manager: Manager, requests: Requests, figures: Figures, seconds: float) -> None:
    """Nothing happens: no requests at all but the renewals of the leadership, hardly any CPU."""
    effects, events, cpu = manager.effects(), await fleet.events(), manager.cpu_s()
    requests.since()
    await asyncio.sleep(seconds)
    figures["idleCores"] = (manager.cpu_s() - cpu) / seconds
    asked = requests.since()
    reads = sum(number for what, number in asked.items() if is_read(what))
    figures["idleAsked"] = dict(asked)
    own = manager.effects() - effects + await fleet.events() - events
    figures["idleWrites"] = sum(asked.values()) - reads if requests.is_counted else own


async def heartbeats(fleet: Fleet, bare: Measured, manager: Measured, figures: Figures, plan: Plan) -> None:
    """In slices, of which the median counts: others share this machine, and a slice of theirs is soon over."""
    slices = []
    for _ in range(plan["slices"]):
        before = bare.cpu_s(), manager.cpu_s()
        sent = await fleet.beat(plan["rate"], plan["seconds"] / plan["slices"])
        await asyncio.sleep(SETTLE_S / 2)
        slices.append((sent, (bare.cpu_s() - before[0]) / sent * 1e6, (manager.cpu_s() - before[1]) / sent * 1e6))
    figures["heartbeats"] = sum(sent for sent, _, _ in slices)
    figures["bareUsPerEvent"] = statistics.median(cost for _, cost, _ in slices)
    figures["usPerEvent"] = statistics.median(cost for _, _, cost in slices)
    figures["bareMb"], figures["mb"] = bare.memory_mb(), manager.memory_mb()
    figures["peakMb"] = manager.memory_mb("VmHWM")  # since the start; storms come later, and have a figure of their own


async def repairs(fleet: Fleet, manager: Manager, requests: Requests, figures: Figures, plan: Plan) -> None:
    """Power cycles by annotation: one after the other until each is held (latency), then all of them to their end."""
    numbers = objects.numbers_of("plain", fleet.size)[: plan["repairs"]]
    effects, events = manager.effects(), await fleet.events()
    requests.since()
    latencies = []
    for number in numbers:
        name = objects.name_of(number)
        begun = await fleet.mark(number)
        await until(partial(fleet.held.__contains__, name), f"{name} is held", 0.001)
        latencies.append((fleet.held[name] - begun) * 1000)
    names = {objects.name_of(number) for number in numbers}
    await asyncio.gather(*(fleet.power(number, False) for number in numbers))
    await until(lambda: names <= fleet.gone and names <= fleet.released, "nodes are gone and hosts released")
    fleet.clean.clear()
    await asyncio.gather(*(fleet.come_back(number) for number in numbers))
    await until(lambda: names <= fleet.clean, "nodes are restored")
    await asyncio.sleep(SETTLE_S)
    await fleet.records_closed(plan["records"])
    figures["repairs"] = len(numbers)
    figures["holdMsP50"], figures["holdMsP99"] = statistics.median(latencies), percentile(latencies, 0.99)
    own = {"effects": manager.effects() - effects, "create events": await fleet.events() - events}
    figures["requestsOfPowerCycle"] = counted(requests, own, len(numbers))


async def remediated(fleet: Fleet, manager: Manager, requests: Requests, figures: Figures, plan: Plan) -> None:
    """The same machines once more, by Metal3Remediations, all at once."""
    numbers = objects.numbers_of("plain", fleet.size)[: plan["repairs"]]
    effects, events = manager.effects(), await fleet.events()
    requests.since()
    await remediations.play(fleet, numbers)
    await asyncio.sleep(SETTLE_S)
    await fleet.records_closed(plan["records"])
    own = {"effects": manager.effects() - effects, "create events": await fleet.events() - events}
    figures["requestsOfRemediation"] = counted(requests, own, len(numbers))


async def sickness(patients: Patients, manager: Manager, requests: Requests, figures: Figures, plan: Plan) -> None:
    """Nodes whose timeout is over already, one after the other: how long until the request is written?"""
    numbers = objects.numbers_of("open", figures["nodes"])[: plan["repairs"]]
    seeing = manager.begun + figures["syncS"] + SETTLE_S
    await until(lambda: time.monotonic() > seeing + patients.timeout_s, "it has watched for long enough")
    effects = manager.effects()
    requests.since()
    latencies, own = [], []
    for number in numbers:
        name = objects.name_of(number)
        begun = await patients.fall_sick(number, time.time() - checks.LONG_AGO_S)
        own.append((time.monotonic() - begun) * 1000)
        await until(partial(patients.requested.__contains__, name), f"{name} has its request", 0.001)
        latencies.append((patients.requested[name] - begun) * 1000)
    await patients.recover(numbers)
    await asyncio.sleep(SETTLE_S)
    await patients.fleet.records_closed(plan["records"])
    figures["sick"] = len(numbers)
    figures["sickMsP50"], figures["sickMsP99"] = statistics.median(latencies), percentile(latencies, 0.99)
    figures["writeMsP50"], figures["writeMsP99"] = statistics.median(own), percentile(own, 0.99)
    figures["requestsOfExternal"] = counted(requests, {"effects": manager.effects() - effects}, len(numbers))


async def storm(patients: Patients, figures: Figures, wish: int) -> None:
    """Many nodes time out in the same second: they were told sick before, with one and the same beginning.

    At most a fifth of all, since half of a failure domain at once is held back whatever a budget allows.
    """
    numbers = objects.numbers_of("open", figures["nodes"])[: min(wish, figures["nodes"] // 5)]
    names = {objects.name_of(number) for number in numbers}
    patients.requested.clear()
    since = float(int(time.time()))
    begun = time.monotonic() - (time.time() - since)
    await asyncio.gather(*(patients.fall_sick(number, since) for number in numbers))
    due = begun + patients.timeout_s + 1
    if time.monotonic() > due:
        raise SystemExit(
            f"{len(numbers)} nodes could not be told sick within {patients.timeout_s} s: too busy a machine"
        )
    await until(lambda: names <= patients.requested.keys(), f"{len(names)} requests are written")
    figures["storm"] = len(numbers)
    figures["stormS"] = max(0.0, max(patients.requested.values()) - due)
    await patients.recover(numbers)


async def limit(patients: Patients, figures: Figures, quiet_s: float) -> None:
    """Half of the machines of a check that bears less than 40 % fall sick, their timeout over: how many requests?

    A fifth of them first, which the check bears: these are repaired. Then the others, at one moment: the gate closes
    once too many are sick. None come any more when there was none for `quiet_s`.
    """
    limited = objects.numbers_of("limited", figures["nodes"])
    borne, sick = limited[: len(limited) // 5], limited[: len(limited) // 2]
    patients.requested.clear()
    patients.most = 0
    long_ago = time.time() - checks.LONG_AGO_S
    await asyncio.gather(*(patients.fall_sick(number, long_ago) for number in borne))
    names = {objects.name_of(number) for number in borne}
    await until(lambda: names <= patients.requested.keys(), f"{len(names)} that the check bears have their requests")
    await asyncio.gather(*(patients.fall_sick(number, long_ago) for number in sick[len(borne) :]))
    known, settled = -1, time.monotonic()
    while len(patients.requested) != known or time.monotonic() - settled < quiet_s:
        if len(patients.requested) != known:
            known, settled = len(patients.requested), time.monotonic()
        await asyncio.sleep(0.1)
    figures["limited"], figures["limitedSick"] = len(limited), len(sick)
    figures["limitedRequests"] = known
    figures["aboveLimit"] = max(0, known - len(limited) * checks.LIMIT // 100)
    await patients.recover(sick)


def counted(requests: Requests, own: dict[str, float], repairs: int) -> dict[str, float]:
    """Per repair, by what was asked; where no log is kept, what the manager counts itself."""
    if requests.is_counted:
        return per_repair(requests.since(), repairs)
    return {what: round(number / repairs, 2) for what, number in own.items()}


def percentile(values: list[float], part: float) -> float:
    """The least value that so many of all do not exceed (nearest rank): the p99 of a hundred is the 99th."""
    return sorted(values)[max(0, math.ceil(len(values) * part) - 1)]
