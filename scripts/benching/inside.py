"""In one process, without a network: a heartbeat from bytes to a decision not to decide, and simulated hours.

    python inside.py heartbeats NODES      prints JSON: microseconds per heartbeat, memory per node
    python inside.py simulate NODES        prints JSON: how many times faster than real time, median of five

Each runs in a process of its own: memory is what the process holds, and one run does not warm the next.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] if str(ROOT) not in sys.path else []

from benching import objects  # noqa: E402

from noderemedy.drivers.clock import Clock  # noqa: E402
from noderemedy.engine.loop import Engine  # noqa: E402
from noderemedy.manager.feeding import Feeding  # noqa: E402
from noderemedy.model.ids import HOST, MACHINE, NODE, Kind  # noqa: E402
from noderemedy.model.time import Mono, Now, Wall  # noqa: E402
from noderemedy.rooms import ROOMS, watched  # noqa: E402
from noderemedy.sim.run import HEALING_MS, IDLE_MS, simulate  # noqa: E402
from noderemedy.wire.objects import decode, decode_event  # noqa: E402

BEATS = 1_000
ROUNDS = 10
QUICK = 100  # so few nodes are only to show that it works
SEEDS = range(1, 6)
SAMPLE = 200  # heartbeats that are rendered beforehand, so that rendering is not measured


def heartbeats(nodes: int) -> dict[str, float]:
    """Decode and engine, for nodes that are healthy. The best round counts: others share this machine."""
    engine = Engine(ROOMS)
    baseline = resident_kb()
    for kind in watched():
        engine.listing(kind, now(0))
    for number in range(nodes):
        for kind, body in rendered(number):
            engine.seen(decode(kind, body), now(0))
    for kind in watched():
        engine.listed(kind, now(0))
    engine.step(now(0), 1)
    gc.collect()
    gc.freeze()
    memory = resident_kb() - baseline
    beats = [heartbeat(number * nodes // SAMPLE, version) for version, number in enumerate(range(SAMPLE))]
    turns = ROUNDS if nodes > QUICK else 1
    rounds = [beat_all(engine, beats) for _ in range(turns)]
    reading = min(read_all(beats) for _ in range(turns))
    return {"nodes": nodes, "us": min(rounds), "readUs": reading, "kbPerNode": memory / nodes}


def beat_all(engine: Engine, beats: list[bytes]) -> float:
    """As the manager does it, from the line of a watch on."""
    feeding = Feeding(engine, Clock(random.Random(1)), lambda: None)
    begun = time.process_time()
    for count in range(BEATS):
        found = decode_event(NODE, beats[count % SAMPLE], known=feeding.known)
        assert found is not None
        feeding.seen(found[1])
    took = time.process_time() - begun
    assert not engine.queue, "a heartbeat is no reason to look"
    return took / BEATS * 1e6


def read_all(beats: list[bytes]) -> float:
    """What reading every Node would cost instead."""
    begun = time.process_time()
    for count in range(BEATS):
        decode_event(NODE, beats[count % SAMPLE])
    return (time.process_time() - begun) / BEATS * 1e6


def rendered(number: int) -> list[tuple[Kind, bytes]]:
    """One node with its machine and host, as the API would send them."""
    trees = [(NODE, objects.node(number))]
    for kind, (tree, status) in ((MACHINE, objects.machine(number)), (HOST, objects.host(number))):
        trees.append((kind, {**tree, "status": status}))
    for kind, tree in trees:
        tree["metadata"] |= {"uid": f"{kind.kind}-{number}", "resourceVersion": str(number + 1)}
    return [(kind, json.dumps(tree).encode()) for kind, tree in trees]


def heartbeat(number: int, version: int) -> bytes:
    tree: dict[str, Any] = json.loads(rendered(number)[0][1])
    tree["metadata"]["resourceVersion"] = str(1_000_000 + version)
    tree["status"]["conditions"] = objects.conditions("2026-11-15T09:00:00Z")
    return json.dumps({"type": "MODIFIED", "object": tree}).encode()


def now(ms: int) -> Now:
    return Now(Wall(1_800_000_000_000 + ms), Mono(ms))


def resident_kb() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def simulated(nodes: int) -> dict[str, float]:
    """One hour of trouble and the healing after it, with all checkers on; a few minutes where it is only to work.

    The median of five histories: in one all nodes may fall silent at once, and another has a quiet day.
    """
    hours, seeds = (1.0, SEEDS) if nodes >= QUICK else (0.1, SEEDS[:1])
    took, events = statistics.median_low(simulate_timed(seed, nodes, hours) for seed in seeds)
    seconds = 3600 * hours + (HEALING_MS + IDLE_MS) / 1000
    return {"nodes": nodes, "timesRealTime": seconds / took, "seconds": took, "events": events}


def simulate_timed(seed: int, nodes: int, hours: float) -> tuple[float, int]:
    gc.collect()
    begun = time.process_time()
    report = simulate(seed, nodes=nodes, hours=hours)
    took = time.process_time() - begun
    assert report.ok, report.violations
    return took, report.events


def in_own_process(what: str, nodes: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, what, str(nodes)], capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode:
        raise SystemExit(f"{what} with {nodes} nodes failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps({"heartbeats": heartbeats, "simulate": simulated}[sys.argv[1]](int(sys.argv[2]))))
