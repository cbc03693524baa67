"""Whether a method of a cloud's own agent means the very instance that its node runs on. Pure.

Called by `plan.py` before the method counts, and by `drills.py` when its device has answered. Another project, zone or
resource group has a machine of the same name, too: it answers, goes off and says so, and the node writes on. Rule: what
a providerID tells, a method says likewise. What is left out, or in a Secret, says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from noderemedy.core.fencing.clouds import instance_of
from noderemedy.core.fencing.identities import is_same_machine
from noderemedy.core.fencing.plugs import OLD
from noderemedy.model.fenceplan import AgentMethod

# Where there may be another machine of the same name: agents look it up, or take the place that they run in themselves.
NAMED_WITHIN = ("project", "zone", "resourceGroup", "subscriptionId")
NOTHING, BEHIND_A_SECRET = "nothing", "a Secret"


class Elsewhere(Struct, frozen=True):
    """A parameter that does not say what the providerID says."""

    parameter: str
    says: str
    own: str

    @property
    def name(self) -> str:
        """Under which it has to be written."""
        return OLD.get(self.parameter, self.parameter)


def elsewhere(method: AgentMethod, provider_id: str) -> Iterator[Elsewhere]:
    """All that speaks against it; nothing where the providerID is of no cloud, or the agent not that cloud's own."""
    instance = instance_of(provider_id)
    if instance is None or instance.problem or instance.agent != method.agent:
        return
    own = dict(instance.parameters)
    said = [*method.parameters, *((one.parameter, BEHIND_A_SECRET) for one in method.secrets if not one.is_optional)]
    for key, value in said:
        meant = own.get(OLD.get(key, key))
        if meant is not None and (value == BEHIND_A_SECRET or not is_same_machine(value, meant)):
            yield Elsewhere(key, value, meant)
    maybe = {one.parameter for one in method.secrets if one.is_optional}
    for key in NAMED_WITHIN:
        if key in own and key not in dict(said):
            yield Elsewhere(key, BEHIND_A_SECRET if key in maybe else NOTHING, own[key])
