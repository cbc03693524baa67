"""Two versions of the manager at work on one cluster: upgrades and downgrades on the way (faults 26, 27).

The other version is the next one: it writes more than this one knows into every record that is kept as text, and one
more condition into every status of ours. What this version is to that one, an older version is to this one.

`run.py` and `fencerun.py` ask which histories have both. They have a chance of their own: all others stay as they are.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec

from noderemedy.model.ids import BUDGET, NODE_FENCE, REMEDIATION
from noderemedy.sim.aftermath import Aftermath
from noderemedy.sim.apiserver import ApiServer, Tree
from noderemedy.sim.process import Process
from noderemedy.sim.troubles import Troubles
from noderemedy.sim.weather import Fate, Weather
from noderemedy.sim.world import World
from noderemedy.wire import names
from noderemedy.wire.bookkeeping import LEDGER_KEY
from noderemedy.wire.http import Answer, Request

SHARE = 0.125  # of all histories
RECORDS = (names.HOLD, names.FENCE_HOLD_FOR, names.NODE_BACKUP, names.PREFIX)  # what their keys begin with
MORE = {"schema": 2, "plan": {"steps": ["off", "free", "on"]}, "deadline": None}
OUR_GROUPS = (BUDGET.group, NODE_FENCE.group, REMEDIATION.group)
FORECAST = {
    "type": "Forecast",
    "status": "True",
    "reason": "Fair",
    "message": "a condition of a later version",
    "lastTransitionTime": "2027-01-15T08:00:00Z",
}
UPGRADE, DOWNGRADE = "upgrade", "downgrade"


class Newer(Process):
    """A manager of the next version."""

    is_newer = True

    def apply(self, request: Request, fate: Fate, api: ApiServer) -> Answer | None:
        return super().apply(with_more(request) if self.is_newer else request, fate, api)


class Changing(Newer):
    """A manager that is of another version in every life."""

    def start(self) -> None:
        self.is_newer = not self.is_newer
        super().start()


class Versions:
    """Counts changes of version in the middle of a repair: a leader that is newer than the last one, or older."""

    def __init__(self, aftermath: Aftermath, troubles: Troubles) -> None:
        self.aftermath = aftermath
        self.troubles = troubles
        self._was_newer: bool | None = None
        for process in aftermath.processes:
            process.on_leading.append(self._leads)

    def _leads(self, process: Process) -> None:
        is_newer = isinstance(process, Newer) and process.is_newer
        if self._was_newer not in (None, is_newer) and self.aftermath.under_way():
            self.troubles.count(UPGRADE if is_newer else DOWNGRADE)
        self._was_newer = is_newer


def managers_of(seed: int, cluster: World, count: int, weather: Weather, chance: random.Random) -> list[Process]:
    """The managers of this history."""
    version = manager_of(seed)
    return [version(f"manager-{i + 1}", cluster, weather=weather, seed=chance.getrandbits(64)) for i in range(count)]


def manager_of(seed: int) -> type[Process]:
    """What managers of this history are."""
    return Changing if random.Random(f"versions {seed}").random() < SHARE else Process


def with_more(request: Request) -> Request:
    """The same as the next version writes it; what is no object, nor a patch of one, passes as it is."""
    if not request.body.startswith(b"{"):
        return request
    tree: Tree = msgspec.json.decode(request.body)
    notes = (tree.get("metadata") or {}).get("annotations") or {}
    add_more(notes, [key for key in notes if key.startswith(RECORDS)])
    data = tree.get("data") or {}
    add_more(data, [key for key in data if key == LEDGER_KEY])
    conditions = tree.get("status", {}).get("conditions")
    if conditions and is_ours(request) and FORECAST not in conditions:
        conditions.append(FORECAST)
    return msgspec.structs.replace(request, body=msgspec.json.encode(tree))


def add_more(records: dict[str, Any], keys: list[str]) -> None:
    """More fields in those of these that are records: objects, written as text."""
    for key in keys:
        if str(records[key]).startswith("{"):
            records[key] = msgspec.json.encode(msgspec.json.decode(records[key]) | MORE).decode()


def is_ours(request: Request) -> bool:
    return request.path.startswith(tuple(f"/apis/{group}/" for group in OUR_GROUPS))
