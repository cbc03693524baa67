"""What a plan switches off it must switch on again, or a node would end dark or cut off (S6, S13). Pure.

Called by `plan.py` of a plan in which nothing else is wrong. Off and on may be two methods, if both mean one device as
`devices.py` knows it. A host comes on when it is let go, and an instance that is ended for good does not come on.
"""

from __future__ import annotations

from collections.abc import Iterator

from noderemedy.core.fencing.devices import identity, meant
from noderemedy.core.fencing.drafting import WORDS
from noderemedy.model.fenceplan import AgentMethod, FencePlan, Step
from noderemedy.model.run import Deed

# By the step that switches off: the one that switches on, what the first does, what the second does not, the remedy.
RETURNS: dict[Step, tuple[Step, str, str, str]] = {
    Step.ISOLATION: (
        Step.RECOVERY,
        "cuts the node off at",
        "lets it in again",
        "add one with action=on and the same parameters",
    ),
    Step.POWER_MANAGEMENT: (
        Step.POWER_MANAGEMENT,
        "switches off",
        "switches that on again",
        "add a method with action=on for it, or leave action=off out, which is off and on",
    ),
}


def unpaired(plan: FencePlan) -> Iterator[tuple[str, str]]:
    """By method: what it would leave off, and how to mend that."""
    if plan.ends_instance:
        return
    for step, (back, does, lacks, remedy) in RETURNS.items():
        lit = plan.doing(back, Deed.ON)
        known = {identity(one) for one in lit}
        for method in plan.doing(step, Deed.OFF):
            if identity(method) not in known:
                where = " ".join(f"{name}={value}" for name, value in meant(method))
                words = f"it {does} {where}, and nothing in {WORDS[back]} {lacks}"
                yield method.name, f"{words}; {slip(method, lit) or remedy}"


def slip(method: AgentMethod, lit: tuple[AgentMethod, ...]) -> str:
    """The method that was probably meant to switch it on, and in what it differs; "" if there is none."""
    found = [(one, differing(method, one)) for one in lit if one.agent == method.agent]
    if not found:
        return ""
    nearest, words = min(found, key=lambda pair: len(pair[1]))
    return f"{nearest.name} has {', '.join(words)}: write the same in both"


def differing(method: AgentMethod, other: AgentMethod) -> list[str]:
    """What the other one says otherwise of which device is meant."""
    wanted, has = dict(meant(method)), dict(meant(other))
    names = [name for name in sorted({*wanted, *has}) if wanted.get(name) != has.get(name)]
    return [f"{name}={has[name]}" if name in has else f"no {name}" for name in names]
