"""The conditions of a Machine that are ours to tell, in both generations, and those of others, which stay as they are.

Read by `wire/machineconditions.py`, decided with `core/conditions.py`, written by `WriteMachineConditions`. Cluster
API has two generations of conditions: the older one has a severity, and an object keeps the other generation aside.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.checkstatus import Foreign, Told

HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED = "HealthCheckSucceeded", "OwnerRemediated"
EXTERNALLY_REMEDIATED = "ExternallyRemediated"
OURS = (HEALTH_CHECK_SUCCEEDED, OWNER_REMEDIATED, EXTERNALLY_REMEDIATED)
ERROR, WARNING, INFO = "Error", "Warning", "Info"  # severities of status False, in the older generation only


class Graded(Told, frozen=True):
    """A condition of a Machine of a type that is ours to tell."""

    severity: str = ""  # "" in the current generation
    generation: int = 0  # `observedGeneration`, if its writer told one


Conditions = tuple[Graded | Foreign, ...]


class MachineConditions(Struct, frozen=True):
    """All conditions of a Machine; None: the object has no place for that generation, or nobody has used it yet."""

    current: Conditions | None = None
    older: Conditions | None = None
    is_current: bool = False  # `status.conditions` is the current generation

    @property
    def own(self) -> Conditions:
        """Those of `status.conditions` itself."""
        return (self.current if self.is_current else self.older) or ()

    def find(self, type: str) -> Graded | None:
        """What is said of a type: by the current generation, else by the older one."""
        told = (*(self.current or ()), *(self.older or ()))
        return next((one for one in told if isinstance(one, Graded) and one.type == type), None)
