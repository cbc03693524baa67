"""Sabotages of what `explain` says of checks that mean a machine and do not judge it, and of a check's limit."""

from __future__ import annotations

from tests.cli import test_explain_aside, test_explain_command, test_history_command
from tests.core.healthcheck import test_aside, test_remediationgates
from tests.sabotage.running import Sabotage, set_to

from noderemedy.core.gates import Blocked
from noderemedy.core.healthcheck import aside, remediation, remediationgates, remediationview
from noderemedy.core.healthcheck.selector import may_mean
from noderemedy.manager import explain, history
from noderemedy.model.reasons import CheckYounger, ClusterPaused, LimitOfCheck, TargetOfNobody

ASIDE = (
    Sabotage(
        "what cannot be read is not there",
        set_to(explain, "unread", lambda *_: ()),
        (
            test_explain_command.test_a_machine_that_cannot_be_read_is_not_denied,
            test_explain_command.test_a_node_that_cannot_be_read_is_not_denied,
            test_explain_command.test_of_many_that_cannot_be_read_some_are_named,
        ),
    ),
    Sabotage(
        "every gate has been asked",
        set_to(explain, "ASKED_LAST", ()),
        (test_explain_command.test_what_waits_behind_a_closed_gate_is_not_asked,),
    ),
    Sabotage(
        "a name is a name",
        set_to(history, "names_of", lambda at: (at.name,)),
        (test_history_command.test_of_one_node,),
    ),
    Sabotage(
        "nobody is told who stands aside",
        set_to(explain, "standing_aside", lambda *_: ()),
        (
            test_explain_aside.test_what_keeps_a_check_from_judging,
            test_explain_aside.test_a_younger_check_says_who_governs,
        ),
    ),
    Sabotage(
        "the room sees only what is left on a machine that nobody judges",
        set_to(remediationview, "standing_aside", lambda *_: ()),
        (
            test_aside.test_a_check_that_means_a_machine_and_does_not_judge_it,
            test_aside.test_what_is_left_on_a_paused_machine_has_the_pause_for_a_reason,
        ),
    ),
    Sabotage(
        "every check of the namespace stands aside",
        set_to(aside, "may_mean", lambda *_: True),
        (test_aside.test_a_check_of_others_stands_not_aside, test_aside.test_a_machine_of_nobody_is_still_nobodys),
    ),
    Sabotage(
        "an invalid check stands nowhere",
        set_to(aside, "may_mean", lambda check, machine: check.is_valid and may_mean(check, machine)),
        (
            test_aside.test_a_check_that_means_a_machine_and_does_not_judge_it,
            test_explain_aside.test_what_keeps_a_check_from_judging,
        ),
    ),
    Sabotage(
        "a skipped machine is called paused",
        set_to(aside, "TargetSkipped", ClusterPaused),
        (test_aside.test_a_check_that_means_a_machine_and_does_not_judge_it,),
    ),
    Sabotage(
        "whoever stands aside is younger",
        set_to(aside, "why", lambda *_: CheckYounger("workers")),
        (test_aside.test_the_younger_check_stands_aside,),
    ),
    Sabotage(
        "what nobody judges is nobody's",
        set_to(remediationgates, "unjudged", lambda view: Blocked(TargetOfNobody())),
        (
            test_aside.test_a_check_that_means_a_machine_and_does_not_judge_it,
            test_remediationgates.test_each_gate_closes_with_its_reason,
        ),
    ),
    Sabotage(
        "without a check all gates are shown",
        set_to(remediation, "WITHOUT_CHECK", remediationgates.GATES),
        (test_aside.test_without_a_check_only_what_can_be_answered_is_asked,),
    ),
    Sabotage(
        "a limit has no numbers",
        set_to(remediationgates, "LimitOfCheck", lambda at, *_: LimitOfCheck(at)),
        (
            test_remediationgates.test_the_limit_tells_its_numbers,
            test_explain_aside.test_a_limit_has_its_numbers,
        ),
    ),
)
