"""Sabotages of workload clusters: where a node is, what cannot be seen, and who says so.

`tests/test_sabotage_clusters.py` runs them.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.core import test_workload_clusters as workload
from tests.core.metal3 import test_gates
from tests.sabotage.running import Sabotage, set_to

from noderemedy.core import clusters, machines
from noderemedy.core.healthcheck import criteria, facts
from noderemedy.core.metal3 import gates
from noderemedy.engine import cache
from noderemedy.model.reasons import CannotSeeCluster
from noderemedy.model.remote import Remote, Sight
from noderemedy.model.room import Unseen
from noderemedy.model.time import Span

SILENT = CannotSeeCluster("", "")
NODE_AT, READ = machines.node_at, cache.Cache.read


def shown(self: Any, ref: Any) -> Any:
    """What was known of a cluster is shown while it is away."""
    return self._entries.get(ref) or READ(self, ref)


def here(key: Any, machine: Any, reader: Any) -> Any:
    """Every node is in this cluster."""
    found = NODE_AT(key, machine, reader)
    return replace(found, cluster="") if found else None


def believed(at: Any, secret: str, reader: Any) -> Any:
    """A Node that we deleted was in this cluster."""
    found = list(clusters._nodes_in("", at, reader))
    return Remote(Sight.HOME if any(found) else Sight.LOST if found else Sight.YOUNG)


SABOTAGES = (
    Sabotage(
        "what we deleted was here",
        set_to(clusters, "without_secret", believed),
        (workload.test_without_a_kubeconfig_a_cluster_is_here_if_its_nodes_are,),
    ),
    Sabotage(
        "every node is here",
        set_to(machines, "node_at", here),
        (
            workload.test_a_node_is_in_its_cluster_unless_that_manages_itself,
            workload.test_a_missing_node_is_read_in_its_own_cluster,
        ),
    ),
    Sabotage(
        "a cluster that nobody asked about manages itself",
        set_to(machines, "remote_of", lambda key, machine, reader: None),
        (workload.test_a_node_is_in_its_cluster_unless_that_manages_itself,),
    ),
    Sabotage(
        "without a Cluster every node is here",
        set_to(machines, "unfollowed", lambda cluster, reader: None),
        (
            workload.test_a_machine_whose_cluster_is_not_there_is_out_of_sight,
            workload.test_a_machine_whose_cluster_cannot_be_read_is_out_of_sight,
        ),
    ),
    Sabotage(
        "where there are no Clusters every node is elsewhere",
        set_to(machines, "is_served", lambda kind, reader, cluster="": True),
        (workload.test_a_machine_of_no_cluster_has_its_node_here,),
    ),
    Sabotage(
        "a Cluster that goes leaves nothing",
        set_to(clusters, "left_behind", lambda at, reader: None),
        (workload.test_a_cluster_that_goes_leaves_its_machines_out_of_sight,),
    ),
    Sabotage(
        "a Cluster that went is remembered for ever",
        set_to(clusters, "left_behind", lambda at, reader: Remote(Sight.UNKNOWN, "gone")),
        (workload.test_a_cluster_that_goes_last_leaves_nothing,),
    ),
    Sabotage(
        "nodes of one name are one node",
        set_to(machines, "_is_at", lambda machine, node, reader: True),
        (
            workload.test_equal_names_do_not_mix,
            workload.test_a_node_of_this_cluster_concerns_its_own_machines_only,
        ),
    ),
    Sabotage(
        "what was known of a lost cluster is shown",
        set_to(cache.Cache, "read", shown),
        (workload.test_entries_of_a_cluster_out_of_sight_are_unseen,),
    ),
    Sabotage(
        "a cluster that is away is judged by what its machines say",
        set_to(criteria, "BLIND", ()),
        (workload.test_conditions_of_a_machine_do_not_count_while_its_cluster_is_away,),
    ),
    Sabotage(
        "a young cluster is judged by nothing",
        set_to(criteria, "BLIND", tuple(Sight)),
        (workload.test_before_its_control_plane_is_up_only_nodes_cannot_be_seen,),
    ),
    Sabotage(
        "an unseen node is a node that is gone",
        set_to(gates, "Unseen", type("Nothing", (), {})),
        (test_gates.test_every_gate_is_tested,),
    ),
    Sabotage(
        "an unseen node keeps a host off",
        set_to(
            gates,
            "BEFORE_ANYTHING",
            (
                lambda view, now: gates.closed(SILENT if isinstance(view.node_entry, Unseen) else None),
                *gates.BEFORE_ANYTHING,
            ),
        ),
        (test_gates.test_a_cluster_out_of_sight_does_not_keep_our_host_off,),
    ),
    Sabotage(
        "nobody is told that a cluster is out of sight",
        set_to(clusters, "A_WHILE", Span(10**9)),
        (workload.test_the_cluster_says_it_aloud_after_a_while,),
    ),
    Sabotage(
        "a check counts nobody as unseen",
        set_to(facts, "blindness", lambda verdict: None),
        (workload.test_a_check_says_that_it_cannot_see,),
    ),
    Sabotage(
        "a repair begins as soon as its cluster is in sight",
        set_to(machines, "remote_of", lambda key, machine, reader: None),
        (workload.test_a_new_repair_waits_until_its_cluster_was_watched_long_enough,),
    ),
    Sabotage(
        "everything out of sight is an alert",
        set_to(clusters, "A_WHILE", Span(0)),
        (workload.test_the_cluster_says_it_aloud_after_a_while,),
    ),
)
