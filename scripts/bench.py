#!/usr/bin/env python3
"""The benchmark (`make bench`): what node-remedy costs, beside its own yardstick and its targets.

    python scripts/bench.py                    500 and 5,000 nodes on a real kube-apiserver, about 10 minutes
    python scripts/bench.py --nodes 5000       another size; may be given several times
    python scripts/bench.py --quick            some seconds, small numbers: shows that it works, no more
    python scripts/bench.py -o figures.json    the figures as JSON

Only ratios within one run travel to another machine: the yardstick is a bare watch (list, watch and decode with aiohttp
and msgspec, no logic) that runs beside the manager. It is no timed test: it fails only if something does not work.
Everything happens on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from benching import inside, outside, servers, table  # noqa: E402

FULL = {
    "starts": 15,
    "calm": 12.0,
    "idle": 5.0,
    "rate": 80,
    "seconds": 21.0,
    "repairs": 100,
    "storm": 500,
    "timeout": 20,
    "slices": 7,
    "quiet": 3.0,
    "records": 150.0,
}
QUICK = {
    "starts": 2,
    "calm": 1.0,
    "idle": 0.5,
    "rate": 50,
    "seconds": 1.0,
    "repairs": 2,
    "storm": 4,
    "timeout": 3,
    "slices": 2,
    "quiet": 0.5,
    "records": 0.0,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.py", description="Measure node-remedy.")
    parser.add_argument("--nodes", type=int, action="append", help="a size; default 500 and 5000")
    parser.add_argument("--quick", action="store_true", help="small numbers, to see that it works")
    parser.add_argument(
        "--simulated", action="store_true", help="use the simulated API server even if a real one exists"
    )
    parser.add_argument("--only", choices=("inside", "outside"), help="what needs no API server, or what needs one")
    parser.add_argument("-o", "--output", type=Path, help="write the figures there as JSON")
    return parser.parse_args()


def machine() -> dict[str, Any]:
    kilobytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024
    return {
        "cores": os.cpu_count(),
        "memoryGb": round(kilobytes / 2**20, 1),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def measure(wish: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {"when": time.strftime("%Y-%m-%d"), "machine": machine()}
    if wish.only != "outside":
        print("in one process: heartbeats and simulated hours", flush=True)
        small, large, world = (20, 100, 10) if wish.quick else (500, 15_000, 1_000)
        figures["inside"] = [inside.in_own_process("heartbeats", nodes) for nodes in (small, large)]
        figures["simulator"] = inside.in_own_process("simulate", world)
    if wish.only != "inside":
        figures |= over_http(wish)
    return figures


def over_http(wish: argparse.Namespace) -> dict[str, Any]:
    compileall.compile_dir(HERE.parent / "src", quiet=1)  # as pip does: who installs it starts with bytecode
    sizes = sorted(wish.nodes or ([50] if wish.quick else [500, 5_000]))
    plan = QUICK if wish.quick else FULL
    with tempfile.TemporaryDirectory(prefix="node-remedy-bench-") as name:
        folder = Path(name)
        with servers.a_server(folder, wish.simulated) as server:
            print(f"over HTTP: {server.note}", flush=True)
            figures = asyncio.run(outside.measure(server, folder, sizes, plan))
            return {"server": server.note, "sizes": figures}


def main() -> int:
    wish = arguments()
    begun = time.monotonic()
    figures = measure(wish)
    figures["seconds"] = round(time.monotonic() - begun, 1)
    print(table.text(figures))
    if wish.output:
        wish.output.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
