"""Sabotages of the reference owner and of what it stands on, with the tests that see them.

`tests/test_sabotage_owner.py` runs them.
"""

from __future__ import annotations

from tests.engine import test_lists
from tests.sabotage.running import Sabotage, set_to
from tests.wire import test_pods

from noderemedy.engine import ledger, loop
from noderemedy.model.actions import Confirm
from noderemedy.wire import answers, pods

PODS: tuple[Sabotage, ...] = (
    Sabotage(
        "a list counts as a write",
        set_to(loop, "READS", (Confirm,)),
        (test_lists.test_a_dry_engine_lists_and_evicts_nobody,),
    ),
    Sabotage(
        "a list is kept for ever",
        set_to(loop, "FACTS", "no such group"),
        (test_lists.test_a_list_is_forgotten_when_its_key_wants_nothing,),
    ),
    Sabotage(
        "a pod is read before its node's list",
        set_to(ledger, "REPEATABLE", ()),
        (test_lists.test_what_the_next_list_shows_is_not_read_first,),
    ),
    Sabotage(
        "a disruption budget is a failure",
        set_to(answers, "is_settled", lambda answer: False),
        (test_pods.test_what_became_of_an_eviction, test_pods.test_a_settled_eviction_shows_nothing),
    ),
    Sabotage(
        "agents of the node are workload",
        set_to(pods, "OF_THE_NODE", ()),
        (test_pods.test_what_a_list_says_of_a_pod,),
    ),
    Sabotage(
        "mirrors of files are workload",
        set_to(pods, "MIRROR", "nothing"),
        (test_pods.test_what_a_list_says_of_a_pod,),
    ),
)

SABOTAGES: tuple[Sabotage, ...] = (*PODS,)
