"""Sabotages of what an invalid check does: it keeps its machines and their counts, and begins nothing for them."""

from __future__ import annotations

from tests.cli import test_explain_aside
from tests.core.healthcheck import test_invalid, test_rooms, test_selector
from tests.sabotage.running import Sabotage, set_to
from tests.sim import test_bad_input

from noderemedy.core.external import kinds
from noderemedy.core.healthcheck import checks, invalid, selector
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.reasons import InvalidCheckGoverns
from noderemedy.model.time import MINUTE

SELECTS, WANTED = selector.selects, kinds.wanted

INVALID = (
    Sabotage(
        "an invalid check selects nobody",
        set_to(selector, "selects", lambda check, machine: check.is_valid and SELECTS(check, machine)),
        (
            test_invalid.test_a_mistake_hands_no_machine_to_the_next_check,
            test_invalid.test_the_counts_stay_as_they_were,
            test_explain_aside.test_an_invalid_check_governs_what_it_selects,
            test_bad_input.test_an_invalid_check_keeps_its_machines,
        ),
    ),
    Sabotage(
        "who cannot say whom he means means all",
        set_to(selector, "selects", selector.may_mean),
        (
            test_invalid.test_a_mistake_hands_no_machine_to_the_next_check,
            test_selector.test_a_check_that_cannot_say_whom_it_means_has_no_targets,
        ),
    ),
    Sabotage(
        "an invalid check is believed",
        set_to(HealthCheck, "is_valid", True),
        (
            test_invalid.test_an_invalid_check_judges_nobody,
            test_invalid.test_a_mark_stays_and_nothing_else_is_asked_for,
            test_invalid.test_a_verdict_waits_for_no_time,
        ),
    ),
    Sabotage(
        "none of its machines is in order",
        set_to(invalid, "is_in_order", lambda target, found: False),
        (
            test_invalid.test_the_counts_stay_as_they_were,
            test_invalid.test_the_verdict_is_none_whatever_is_counted,
        ),
    ),
    Sabotage(
        "all of its machines are in order",
        set_to(invalid, "is_in_order", lambda target, found: True),
        (test_invalid.test_the_counts_stay_as_they_were, test_invalid.test_what_is_out_of_sight_is_still_told_so),
    ),
    Sabotage(
        "nobody is told whose mistake it is",
        set_to(invalid, "InvalidCheckGoverns", lambda check, problem: InvalidCheckGoverns("", problem)),
        (
            test_invalid.test_the_machine_names_the_check_and_what_is_wrong,
            test_explain_aside.test_an_invalid_check_governs_what_it_selects,
        ),
    ),
    Sabotage(
        "an invalid check lets go of what runs",
        set_to(kinds, "wanted", lambda at, check: WANTED(at, check) if check.is_valid else ()),
        (test_invalid.test_its_requests_stay_in_sight,),
    ),
    Sabotage(
        "a check of nobody is told so at once",
        set_to(checks, "SETTLED", MINUTE),
        (
            test_rooms.test_a_check_of_nobody_is_told_so_when_it_has_settled,
            test_bad_input.test_a_check_of_nobody_counts_nobody,
        ),
    ),
    Sabotage(
        "a check of nobody is told so late",
        set_to(checks, "SETTLED", MINUTE * 3),
        (
            test_rooms.test_a_check_of_nobody_is_told_so_when_it_has_settled,
            test_bad_input.test_a_check_of_nobody_counts_nobody,
        ),
    ),
)
