"""`python -m noderemedy.sim`: run seeds, crash plans and soaks. `make sim` and `make soak` call it."""

from __future__ import annotations

import argparse
import gc
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from time import monotonic

from noderemedy.sim import fencesometimes, sometimes
from noderemedy.sim.crashes import SCENES, told
from noderemedy.sim.fencerun import simulate_fencing
from noderemedy.sim.fleetrun import simulate_fleet
from noderemedy.sim.run import Report, simulate
from noderemedy.sim.sometimes import never_seen

HOURS_PER_YEAR = 24 * 365
FULL_COUNT = 500  # seeds from which on nothing that simulated days must meet can be missed by chance
PRINTED = ("checks", "troubles", "actions", "reasons", "outlived", "leaders")


def main() -> int:
    arguments = parser().parse_args()
    return int(arguments.do(arguments))


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m noderemedy.sim", description=__doc__)
    verbs = top.add_subparsers(required=True)
    run = verbs.add_parser("run", help="one seed, in detail")
    run.set_defaults(do=run_one)
    run.add_argument("--seed", type=int, default=1)
    soak = verbs.add_parser("soak", help="many seeds on all cores")
    soak.set_defaults(do=run_many)
    soak.add_argument("--seeds", type=int, default=1_000)
    soak.add_argument("--first", type=int, default=1)
    soak.add_argument("--jobs", type=int, default=2)
    for verb in (run, soak):
        verb.add_argument("--nodes", type=int, default=20)
        verb.add_argument("--hours", type=float, default=6.0)
        verb.add_argument("--fencing", action="store_true", help="a cluster with fence devices, documents and Jobs")
    fleet = verbs.add_parser("fleet", help="many seeds of a management cluster with workload clusters")
    fleet.set_defaults(do=run_fleets)
    fleet.add_argument("--seeds", type=int, default=100)
    fleet.add_argument("--first", type=int, default=1)
    fleet.add_argument("--jobs", type=int, default=2)
    crash = verbs.add_parser("crash", help="every crash point of every story")
    crash.set_defaults(do=run_crashes)
    return top


def run_one(arguments: argparse.Namespace) -> int:
    begun = monotonic()
    report = one((arguments.seed, arguments.nodes, arguments.hours, arguments.fencing))
    took = monotonic() - begun
    for line in report.violations:
        print(line)
    for title in PRINTED:
        print(f"{title}: {getattr(report, title)}")
    rate = arguments.hours * 3600 / took
    print(f"seed {report.seed}: {report.events} events, digest {report.digest}, {rate:,.0f} times real time")
    return 0 if report.ok else 1


def run_many(arguments: argparse.Namespace) -> int:
    """All seeds; prints each failing one with the command that repeats it, and coverage at the end."""
    begun = monotonic()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    jobs = [(seed, arguments.nodes, arguments.hours, arguments.fencing) for seed in seeds]
    failed, freed, totals = 0, 0, {title: Counter[str]() for title in (*PRINTED, *sometimes.WANTED)}
    with ProcessPoolExecutor(arguments.jobs, initializer=gc.disable) as pool:  # see `one`
        for done, report in enumerate(pool.map(one, jobs, chunksize=1), start=1):
            for title, total in totals.items():
                total.update(getattr(report, title))
            freed += report.freed
            if not report.ok:
                failed += 1
                print(f"seed {report.seed}: {report.violations[0]} (+{len(report.violations) - 1})", flush=True)
                more = " --fencing" if arguments.fencing else ""
                print(
                    f"  again: python -m noderemedy.sim run --seed {report.seed} --nodes {report.nodes} "
                    f"--hours {arguments.hours}{more}",
                    flush=True,
                )
            if done % 50 == 0:
                print(f"{done} of {len(jobs)} seeds, {failed} failed, {monotonic() - begun:.0f} s", flush=True)
    for title in PRINTED:
        print(f"{title}: {dict(sorted(totals[title].items()))}")
    missing, is_too_little = coverage(totals, arguments.fencing, len(jobs))
    print("\n".join(missing or ["never seen: nothing"]))
    node_hours = len(jobs) * arguments.nodes * arguments.hours
    years = node_hours / HOURS_PER_YEAR
    print(
        f"{len(jobs)} seeds x {arguments.nodes} nodes x {arguments.hours} h = {node_hours:,.0f} node-hours = "
        f"{years:.2f} node-years, {freed} nodes freed"
    )
    print(f"{len(jobs) - failed} passed, {failed} failed, in {monotonic() - begun:.0f} s")
    return 1 if failed or is_too_little else 0


def coverage(totals: dict[str, Counter[str]], is_fenced: bool, seeds: int) -> tuple[list[str], bool]:
    """What was never seen, line by line, and whether that is a failure: in so many histories it should have been."""
    lists = fencesometimes if is_fenced else sometimes
    lines = [
        f"never seen: {what}: {name}"
        for wanted in (lists.WANTED, lists.SELDOM)
        for what, names in never_seen(wanted, totals).items()
        for name in names
    ]
    return lines, bool(lines) and seeds >= FULL_COUNT


def one(job: tuple[int, int, float, bool]) -> Report:
    """One seed. A world goes as a whole: there is no garbage worth a search before that."""
    seed, nodes, hours, is_fenced = job
    report = (simulate_fencing if is_fenced else simulate)(seed, nodes=nodes, hours=hours)
    gc.collect()
    return report


def run_fleets(arguments: argparse.Namespace) -> int:
    """All seeds of a fleet; prints each failing one."""
    failed, checks = 0, Counter[str]()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for report in pool.map(simulate_fleet, range(arguments.first, arguments.first + arguments.seeds)):
            checks.update(report.checks)
            if report.violations:
                failed += 1
                print(f"seed {report.seed}: {report.violations[0]} (+{len(report.violations) - 1})", flush=True)
    print(f"checks: {dict(sorted(checks.items()))}")
    print(f"{arguments.seeds - failed} passed, {failed} failed")
    return 1 if failed else 0


def run_crashes(arguments: argparse.Namespace) -> int:
    """Kill the manager at every boundary of every story."""
    failed = passed = 0
    for name in SCENES:
        calm = told(name)
        for index, point in enumerate(calm.points):
            ending = told(name, die_at=index, like=calm)
            if ending.violations or ending.state != calm.state:
                failed += 1
                print(f"{name}: dying at {index} ({point.where} {point.action}): {ending.violations or 'another end'}")
            else:
                passed += 1
        print(f"{name}: {len(calm.points)} crash points")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
