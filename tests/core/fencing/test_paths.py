"""Storage that a node reaches on two ways: nothing behind it is freed while one of them is open."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders import a_node
from tests.core.fencing.configuring import Bench, one_method
from tests.core.fencing.fences import CORDON, UNCORDON, a_plan, an_agent
from tests.core.fencing.story import SWITCH
from tests.core.fencing.test_mistaken import Drilled
from tests.core.fencing.test_storage import a_volume, bound, claimed, pods

from noderemedy.core.fencing import devices
from noderemedy.core.fencing.drafting import RESTART
from noderemedy.model.fenceplan import AgentMethod, Scope
from noderemedy.model.proof import StorageFenced
from noderemedy.model.run import Deed

SECOND = "port-2"
SAN = ("storageClass/fc",)


def a_path(name: str, *covers: str, plug: str = SWITCH, deed: Deed = Deed.OFF) -> AgentMethod:
    where = (("plug", plug),)
    return an_agent(name, deed, agent=SWITCH, scope=Scope.STORAGE, covers=covers, parameters=where)


FIRST = a_path("fc1", *SAN)


class Paths(Drilled):
    """A silent node with a pod on storage that two ports lead to; `wrong` are devices that a drill found mistaken."""

    def __init__(self, second: AgentMethod, *wrong: str) -> None:
        back = tuple(a_path(f"{plug}-on", plug=plug, deed=Deed.ON) for plug in (SWITCH, SECOND))
        plan = a_plan(isolation=(CORDON, FIRST, second), recovery=(*back, UNCORDON))
        word = "WrongDevice" if wrong else "DeviceFailed"
        super().__init__(plan, *wrong, word=word, plugs=("fence_ipmilan", SWITCH, SECOND))
        self.elsewhere.add(SECOND)
        bound(self, a_volume("fast", "fc"))
        self.pods("db", volumes=[claimed("fast")])
        self.hang()
        self.run(65)
        self.ask(powerManagementDelay="30m")

    def _is_safe(self, action: Any) -> bool:
        """The node writes on as long as one port is open."""
        if isinstance(action.proof, StorageFenced):
            return not self.plugs[SWITCH] and not self.plugs[SECOND]
        return super()._is_safe(action)


@pytest.mark.parametrize("covers", [(), SAN], ids=["names nothing", "names the same"])
def test_what_is_behind_two_ports_is_freed_when_both_are_shut(covers: tuple[str, ...]) -> None:
    """Both are asked: the proof names them."""
    story = Paths(a_path("fc2", *covers, plug=SECOND))
    story.run(60)

    assert ([], []) == (pods(story), story.freed_early)
    assert "StorageFenced by fc1, fc2" in story.status.evidence.proof


@pytest.mark.parametrize("covers", [(), SAN], ids=["names nothing", "names the same"])
def test_a_port_that_is_another_machines_keeps_the_way_open(covers: tuple[str, ...]) -> None:
    """A drill found the second port mistaken: it is not shut, and the node writes on through its own."""
    second = a_path("fc2", *covers, plug=SECOND)
    story = Paths(second, devices.identity(second))
    story.run(300)

    assert (["db"], [], False) == (pods(story), story.freed_early, story.plugs[SWITCH])


@pytest.mark.parametrize("covers", [(), SAN], ids=["names nothing", "names the same"])
def test_a_port_that_opens_by_itself_keeps_what_is_behind_it(covers: tuple[str, ...]) -> None:
    """It was shut, and is open again before anything is freed."""
    story = Paths(a_path("fc2", *covers, plug=SECOND))
    story.run_until(lambda: not story.plugs[SECOND], 100)
    story.after(6, lambda: story.plugs.update({SECOND: True}))
    story.run(20)

    assert (["db"], []) == (pods(story), story.freed_early)


SWITCHED = "agent=fence_switch\nip=a\nusername=u\nplug=1"
POWERED = "agent=fence_pdu\nip=a\nusername=u\nplug=2"
STEPS = "node_name=n1\nisolation=fc-off\npower_management=m\nrecovery=fc-on"
NO_VOLUMES = "parameter covers: it names no volumes, so that nothing is freed behind it"
IDLE = "parameter covers: it switches power, which keeps a node from all its volumes, so that nobody reads it"


@pytest.mark.parametrize(
    ("switch", "power", "told"),
    [
        (SWITCHED, POWERED, [f"fc-off: {NO_VOLUMES}"]),
        (f"{SWITCHED}\ncovers=storageClass/san", POWERED, []),
        (f"{SWITCHED}\ncovers=storageClass/san", f"{POWERED}\ncovers=storageClass/san", [f"m: {IDLE}"]),
    ],
)
def test_covers_is_noted_where_it_is_missing_and_where_nobody_reads_it(
    switch: str, power: str, told: list[str]
) -> None:
    """The seed's document as printed frees nothing behind its switch: it is no mistake, and nobody would know."""
    bench = Bench()
    methods = {"fence-method-fc-off": f"{switch}\naction=off", "fence-method-fc-on": f"{SWITCHED}\naction=on"}
    bench.write("fence-config-n1", one_method(power, STEPS) | methods)
    plan = bench.plan()

    assert plan is not None
    assert () == plan.problems
    assert told == [f"{one.method}: {one.words.partition(';')[0]}" for one in plan.notes]


def test_covers_of_a_clouds_template_is_noted_too() -> None:
    """It switches power."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-01"))
    bench.write("fence-method-template-aws", {"template.properties": "agent=fence_aws\ncovers=driver/ebs"})
    plan = bench.plan()

    assert plan is not None
    assert [RESTART] == [one.method for one in plan.notes if one.words.startswith(IDLE)]
