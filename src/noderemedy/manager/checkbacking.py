"""What stands behind a node, where its fence plan goes by that: its Machine and BareMetalHost. Pure.

Called by `check.py`. What is missing may just not be among the files, so all of it is a note; a drill tells more of a
host that is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from noderemedy.core.fencing import hostdrill
from noderemedy.core.fencing.view import host_of, named_by, target_of
from noderemedy.model.fenceplan import Builtin, FencePlan
from noderemedy.model.ids import Ref
from noderemedy.model.room import Present, Reader

NO_MACHINE = "no Machine that was looked at stands behind the node"
STAYS = "its instance is stopped and stays in the account; delete it there when InstanceLeft calls"
AGENT = "nothing would be switched off; add it, correct the mapping, or use a fence agent"


def unbacked(plan: FencePlan, reader: Reader) -> Iterator[tuple[str, str]]:
    """By method: what it would not find."""
    if plan.ends_instance and not isinstance(target_of(plan.node, reader)[1], Present):
        yield Builtin.TERMINATE_INSTANCE.value, f"{NO_MACHINE}, so that {STAYS}"
    method, (at, entry) = hostdrill.method_of(plan), named_by(plan.node, reader)
    if method is not None and (missing := no_host(plan.node, at, reader) if isinstance(entry, Present) else NO_MACHINE):
        yield method.name, f"{missing}; {AGENT}"


def no_host(node: Ref, machine: Ref, reader: Reader) -> str:
    """Which end of the way from its Machine to a host is missing; "" if none is."""
    seen = host_of(node, reader)
    owner = f"Machine {machine.namespace}/{machine.name}"
    if seen.at is None:
        return f"{owner} names no BareMetalHost"
    if seen.host is None:
        return f"{hostdrill.name_of(seen)}, which its {owner} names, is not there"
    if seen.is_of_another:
        return f"{owner} has another providerID than the node"
    return "" if seen.is_own else f"{hostdrill.name_of(seen)} does not name {owner}"
