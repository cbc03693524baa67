"""Which machines a check speaks for. Called for every machine event.

The namespace is the caller's business: a check speaks for the machines of its own namespace and group only.
"""

from __future__ import annotations

from collections.abc import Mapping

from noderemedy.core.labels import matches
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.machine import Machine
from noderemedy.model.meta import Malformed
from noderemedy.model.selector import Selector

CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name"


def is_target(check: HealthCheck, machine: Machine) -> bool:
    """Whether this check judges and counts this machine. Machines that are paused or skipped are nobody's target.

    A machine that is being deleted stays one: it is under repair until it is gone, and counts against the limit.
    """
    return not machine.cluster_paused and not machine.skips_remediation and selects(check, machine)


def selects(check: HealthCheck, machine: Machine) -> bool:
    """Whether the selector means this machine, and the machine is of the check's cluster.

    Also where something else in the check is wrong: a mistake must not hand its machines to a younger check. One whose
    words about whom it means cannot be read selects nobody, or it would stand in the way of every other check.
    """
    is_known = isinstance(check.selector, Selector) and not isinstance(check.cluster_name, Malformed)
    return is_known and may_mean(check, machine)


def may_mean(check: HealthCheck, machine: Machine) -> bool:
    """The same for people, who are shown too much rather: what cannot be read may mean any machine."""
    labels = dict(machine.labels)
    is_meant = not isinstance(check.selector, Selector) or matches(check.selector, labels)
    name = check.cluster_name
    return is_meant and (isinstance(name, Malformed) or is_of_cluster(name, machine, labels))


def is_of_cluster(cluster_name: str, machine: Machine, labels: Mapping[str, str]) -> bool:
    """A check without a cluster's name speaks for all clusters of its namespace."""
    return not cluster_name or cluster_name in (machine.cluster_name, labels.get(CLUSTER_NAME_LABEL))
