"""The stories that the lab can tell: which faults happen, who mends what and when, and which end is the right one.

Read by `lab/once.py`, which judges the end, and by the command line, which lists them.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.lab.story import Step
from noderemedy.model.errors import Permanent
from noderemedy.sim.cluster import Cluster
from noderemedy.sim.kinds import POD
from noderemedy.sim.objects import WORKLOAD

FIRST_POD = "database-0"
INSTANCE = "pool-1"


class End(Enum):
    """How a story has to end, in the words of the list of scenarios."""

    BACK = "the workload moves, the node comes back"
    QUIET = "all is as it was"
    RACK_HELD = "nothing is repaired: so many of one rack at once are no machine's own fault"
    NOTHING_FREED = "nothing is freed; after 120 s an alert (--until-alert waits for it)"
    REPLACED = "the machine is recreated, the workload moves, the new node is healthy"
    BACKUP_KEPT = "the workload moves, the backup is kept; after 600 s an alert (--until-alert waits for it)"


class Scenario(Struct, frozen=True):
    """A story. `mend` happens when the repair has come to `mend_after`, some looks at the power later."""

    tells: str
    faults: tuple[str, ...]
    end: End = End.BACK
    mend: str = ""
    mend_after: Step = Step.OFF
    mend_polls: int = 0
    whole_rack: bool = False
    in_cloud: bool = False  # it happens to an instance of the simulated cloud, whose owner is node-remedy


SCENARIOS: dict[str, Scenario] = {
    "hang": Scenario("a kubelet is stuck while the database still writes", ("hang",)),
    "crash": Scenario("a kernel panics", ("crash",)),
    "partition": Scenario("a node is cut off; the cable is mended while the host is off", ("partition",), mend="heal"),
    "rack": Scenario("all nodes of one rack crash at once", ("crash",), End.RACK_HELD, whole_rack=True),
    "bmc-down": Scenario("a node hangs and its BMC is dead", ("bmc-down", "hang"), End.NOTHING_FREED),
    "no-return": Scenario("a node never boots again", ("no-return",), End.BACKUP_KEPT),
    "power-on-fails": Scenario(
        "the BMC switches off and not on, until somebody mends it",
        ("power-on-fails", "hang"),
        mend="bmc-up",
        mend_after=Step.RELEASED,
        mend_polls=3,
    ),
    "replaced-machine": Scenario("an instance of a cloud hangs", ("hang",), End.REPLACED, in_cloud=True),
    "none": Scenario("nothing happens, the stage is yours", (), End.QUIET),
}
DEFAULT = "hang"


def find(name: str) -> Scenario:
    if name not in SCENARIOS:
        raise Permanent(f"there is no scenario {name!r}; use one of: {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def targets(scenario: Scenario, cluster: Cluster) -> list[str]:
    """The node that runs the first pod of the database; or all nodes of its rack; or none."""
    if not scenario.faults:
        return []
    if scenario.in_cloud:
        return [INSTANCE]
    pod = cluster.api.get(POD, FIRST_POD, WORKLOAD)
    node = str(pod["spec"]["nodeName"])
    rack = cluster.servers[node].rack
    return [name for name, server in cluster.servers.items() if server.rack == rack] if scenario.whole_rack else [node]
