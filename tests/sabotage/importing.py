"""Sabotages of `import`: what it compares with, what it counts, what it prints, and what stops a conversion.

`tests/test_sabotage_importing.py` runs them. A sabotage is one replaced function, constant or cell.
"""

from __future__ import annotations

import math
from typing import Any

from rich.padding import Padding
from rich.text import Text
from tests.cli import test_import_command as command
from tests.manager.importing import test_checks, test_convert, test_nodechecks
from tests.sabotage.running import Sabotage, item_to, set_to

from noderemedy.cli import importtext
from noderemedy.manager.importing import checks, convert, examine, nodechecks, report
from noderemedy.manager.importing.world import World
from noderemedy.model.healthcheck import Dialect
from noderemedy.model.time import Span


def nothing(*_: Any) -> tuple[()]:
    return ()


def without(*silent: Any) -> tuple[Any, ...]:
    """The questions without these."""
    return tuple(question for question in checks.QUESTIONS if question not in silent)


SABOTAGES = (
    Sabotage(
        "nobody else answers the annotation",
        set_to(checks, "TWO_ANSWERS", report.note("", "", "")),
        (test_checks.test_differences_of_a_check,),
    ),
    Sabotage(
        "no question about limits",
        set_to(checks, "QUESTIONS", without(checks.limit)),
        (test_checks.test_differences_of_a_check,),
    ),
    Sabotage(
        "problems stay untold",
        set_to(checks, "QUESTIONS", without(checks.problems)),
        (test_checks.test_differences_of_a_check,),
    ),
    Sabotage(
        "another controller never counts",
        set_to(checks, "OTHERS_COUNT_FOR", Span(0)),
        (test_checks.test_differences_of_a_check, test_checks.test_another_controller_is_named_with_its_hour),
    ),
    Sabotage(
        "whoever is quiet is gone",
        set_to(checks, "OTHERS_COUNT_FOR", Span(10**15)),
        (test_checks.test_differences_of_a_check, test_checks.test_a_quiet_controller_is_told_at_every_age),
    ),
    Sabotage(
        "an hour is a day",
        set_to(checks, "HOUR_MS", 86_400_000),
        (test_checks.test_a_quiet_controller_is_told_at_every_age,),
    ),
    Sabotage(
        "the younger check governs",
        set_to(checks, "_age", lambda one: (-one[1].created.ms, one[0].name)),
        (test_checks.test_overlap_names_machines_and_the_governing_check,),
    ),
    Sabotage(
        "dialects are alike with a template",
        item_to(checks.TEMPLATE_DIFFERENCES, Dialect.CAPI, ()),
        (test_checks.test_differences_of_a_check,),
    ),
    Sabotage(
        "no role is shipped",
        set_to(checks, "GRANTED", ()),
        (test_checks.test_differences_of_a_check,),
    ),
    Sabotage(
        "nobody needs a role",
        set_to(checks, "role_needed", lambda kind: report.note("", "", "")),
        (test_checks.test_differences_of_a_check, test_checks.test_the_role_that_is_needed_is_printed),
    ),
    Sabotage(
        "every limit bears one",
        set_to(checks, "most_bearable", lambda *_, **__: 1),
        (test_checks.test_the_limit_has_its_number,),
    ),
    Sabotage(
        "selectors are not looked at",
        set_to(World, "targets", lambda it, at: dict(it.machines)),
        (test_checks.test_a_selector_without_machines_is_told,),
    ),
    Sabotage(
        "nothing holds everywhere",
        set_to(examine, "everywhere", nothing),
        (test_checks.test_what_holds_everywhere_is_said_once,),
    ),
    Sabotage(
        "no machine names its owner",
        set_to(checks, "OURS", "nobody"),
        (
            test_checks.test_machines_without_an_owner,
            test_checks.test_who_is_left_alone_is_told_apart_from_who_is_replaced,
        ),
    ),
    Sabotage(
        "a pipe is as wide as a terminal",
        set_to(importtext, "indented", lambda console, words: Padding(words, (0, 0, 0, 10))),
        (command.test_every_sentence_is_whole_in_a_pipe,),
    ),
    Sabotage(
        "a terminal cuts what is too wide",
        set_to(importtext, "Padding", lambda words, pad: Text(words.plain[:30])),
        (command.test_a_terminal_wraps_sentences_under_their_names,),
    ),
    Sabotage(
        "that operator rounds down",
        set_to(math, "ceil", math.floor),
        (
            test_nodechecks.test_the_number_to_write_is_named,
            test_nodechecks.test_limits_count_as_that_operator_counts,
        ),
    ),
    Sabotage(
        "nodes belong to machines",
        set_to(nodechecks, "selected", lambda selector, world: {}),
        (
            test_nodechecks.test_nodes_without_a_machine_are_named,
            test_nodechecks.test_excluded_nodes_are_named,
            test_nodechecks.test_it_counts_the_nodes_it_selects,
        ),
    ),
    Sabotage(
        "kinds are taken for granted",
        set_to(convert, "missing_kinds", nothing),
        (test_convert.test_refused_without_the_kinds,),
    ),
    Sabotage(
        "fields are taken for granted",
        set_to(convert, "has_field", lambda definition, name: True),
        (test_convert.test_refused_without_the_field,),
    ),
    Sabotage(
        "paused machines are not under repair",
        set_to(World, "selected", World.targets),
        (test_convert.test_refused_while_a_machine_is_marked,),
    ),
    Sabotage(
        "nothing stands against it",
        set_to(convert, "against", nothing),
        (
            test_convert.test_refused_while_a_machine_is_marked,
            test_convert.test_refused_without_machines,
            test_convert.test_refused_while_invalid,
            test_convert.test_refused_when_the_name_is_taken,
            test_convert.test_all_obstacles_are_named_at_once,
        ),
    ),
    Sabotage(
        "the annotation stays",
        set_to(convert, "NOT_KEPT", ()),
        (test_convert.test_the_converted_check_is_the_same_check_with_a_template,),
    ),
    Sabotage(
        "a template may wait for days",
        set_to(convert, "SECONDS_MAX", 10**9),
        (test_convert.test_a_template_waits_no_longer_than_its_kind_allows,),
    ),
    Sabotage(
        "every host needs two hours",
        set_to(convert, "POWER_ON_S", 7_200),
        (test_convert.test_the_template_repeats_what_the_annotation_did,),
    ),
    Sabotage(
        "every check is meant",
        set_to(convert, "is_meant", lambda at, only: True),
        (test_convert.test_only_the_chosen_check_is_converted,),
    ),
    Sabotage(
        "wrong choices are ignored",
        set_to(convert, "strangers", nothing),
        (test_convert.test_a_wrong_choice_is_told,),
    ),
)
