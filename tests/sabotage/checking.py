"""Sabotages of `node-remedy check`, of `attest`, and of what commands print into pipes: one line of harm each.

`tests/test_sabotage_checking.py` runs them."""

from __future__ import annotations

from typing import Any

from rich import console as rich
from tests.cli import test_check_command as command
from tests.cli import test_check_files as files
from tests.cli import test_fencing_commands as steering
from tests.cli import test_options as spelled
from tests.cli import test_piped as piped
from tests.manager import test_livecheck as live
from tests.manager import test_trees as read_trees
from tests.sabotage.running import Sabotage, item_to, set_to, together

from noderemedy.cli import check as cli
from noderemedy.cli import drilltext, explaintext, historytext, options, plantext
from noderemedy.core.fencing import drafting
from noderemedy.core.fencing.hosts import HostSeen
from noderemedy.manager import attesting, check, checksecrets, checktrees, livecheck, places, plan, standins, trees
from noderemedy.manager.check import Complaint
from noderemedy.model.ids import Kind
from noderemedy.model.reasons import FenceConfigWithoutNode
from noderemedy.model.time import Span

BAD = (command.test_bad_input_is_found,)
NOBODY = Kind("", "Nobody")
OF_SECRETS, OF_PLANS = checksecrets.of_secrets, check.of_plans


CONSOLE = rich.Console


def narrow(**more: Any) -> rich.Console:
    """A console that takes a pipe for a terminal of 80 columns."""
    return CONSOLE(**{**more, "soft_wrap": False})


def nothing(*_: Any, **__: Any) -> list[Any]:
    return []


SABOTAGES: tuple[Sabotage, ...] = (
    Sabotage("plans are not asked", set_to(check, "of_plans", nothing), BAD),
    Sabotage("tries are not told", set_to(check, "tries_of", nothing), (files.test_a_try_is_noted,)),
    Sabotage(
        "what is deprecated is a problem",
        set_to(check, "by_annotation", lambda at, found: check.Finding(at, "deprecated")),
        (files.test_a_check_that_repairs_by_annotation_is_noted,),
    ),
    Sabotage(
        "nobody is told what kernel dumps take",
        set_to(check, "dumps", nothing),
        (files.test_kernel_dumps_are_noted_to_need_a_manager_that_listens,),
    ),
    Sabotage(
        "a document without its ConfigMap is passed over",
        together(set_to(plan, "CONFIGURATION", NOBODY), set_to(checktrees, "CONFIGURATION", NOBODY)),
        (command.test_what_cannot_be_checked, files.test_a_document_without_its_config_map_is_told),
    ),
    Sabotage(
        "half a character is text",
        set_to(trees, "refuse_halves", nothing),
        (files.test_half_a_character_is_told, read_trees.test_refusals_name_the_place_and_the_remedy),
    ),
    Sabotage("objects are not asked", set_to(check, "of_object", nothing), BAD),
    Sabotage("nobody stands in for nodes", set_to(standins, "stand_ins", nothing), BAD),
    Sabotage("every text begins beside its key", set_to(places, "BLOCKS", ()), BAD),
    Sabotage("secrets are not looked at", set_to(checksecrets, "wrong", lambda use, value: ""), BAD),
    Sabotage(
        "whoever is ahead attests",
        set_to(attesting, "AHEAD_MAX", Span.seconds(86_400)),
        (steering.test_a_clock_that_is_ahead_dates_no_word,),
    ),
    Sabotage(
        "fields are whatever somebody writes",
        set_to(checktrees, "misspelt", nothing),
        (files.test_a_field_that_nobody_reads_is_a_problem,),
    ),
    Sabotage(
        "templates are not judged",
        set_to(checktrees, "of_template", nothing),
        (files.test_a_template_is_judged_before_a_machine_needs_it,),
    ),
    Sabotage(
        "twins are not seen",
        set_to(checktrees, "twins", nothing),
        (files.test_what_is_given_twice_is_a_note_that_counts,),
    ),
    Sabotage(
        "any namespace will do",
        set_to(checktrees, "of_namespace", nothing),
        (
            files.test_a_fence_configuration_in_another_namespace_is_a_problem,
            files.test_a_document_without_a_namespace_is_noted,
        ),
    ),
    Sabotage("problems cost nothing", set_to(cli, "WRONG", 0), BAD),
    Sabotage(
        "one spelling of JSON is not heard",
        set_to(options, "wants_json", lambda output, as_json: output == "json"),
        (spelled.test_both_spellings_are_one_wish, spelled.test_spellings_that_contradict_each_other_are_refused),
    ),
    Sabotage(
        "a secret that is not in the files is a mistake",
        set_to(checksecrets, "of_secrets", lambda used, known, **_: OF_SECRETS(used, known, are_all=True)),
        (command.test_a_secret_that_is_not_among_the_files_is_a_note,),
    ),
    Sabotage(
        "nodes that nothing could fence are nobody's business",
        set_to(check, "unfenced", nothing),
        (
            command.test_nodes_that_are_there_count,
            command.test_nodes_whose_check_would_have_them_fenced_need_a_configuration,
        ),
    ),
    Sabotage(
        "each node complains for itself",
        set_to(Complaint, "general", property(lambda one: (one.document, f"{one.node} {one.text}"))),
        (command.test_nodes_that_are_there_count,),
    ),
    Sabotage(
        "a name that means nobody is a note",
        item_to(check.TOLD, FenceConfigWithoutNode, True),
        (command.test_a_name_that_means_nobody_is_a_problem,),
    ),
    Sabotage(
        "an agent that cannot be asked is a mistake",
        set_to(check, "NOT_INSTALLED", "no such words"),
        (command.test_without_agents_the_rest_is_checked,),
    ),
    Sabotage(
        "what is not there is not asked for",
        set_to(livecheck, "NOT_FOUND", 999),
        (live.test_a_missing_secret_and_a_missing_template_are_problems,),
    ),
    Sabotage(
        "who may not read a secret sees none",
        set_to(livecheck, "NOT_FOUND", 403),
        (live.test_a_secret_that_may_not_be_read_is_a_note,),
    ),
    Sabotage(
        "a pipe is as wide as a terminal",
        together(*(set_to(module, "Console", narrow) for module in (drilltext, plantext, explaintext, historytext))),
        (
            piped.test_a_plan_is_whole,
            piped.test_an_explanation_is_whole,
            piped.test_history_is_whole,
            piped.test_a_drill_is_whole,
        ),
    ),
    Sabotage(
        "what stands behind a node is not asked",
        set_to(check, "unbacked", nothing),
        (files.test_an_instance_that_nobody_would_remove_is_noted, files.test_a_host_that_is_not_there_is_noted),
    ),
    Sabotage(
        "any host is the node's",
        set_to(HostSeen, "is_own", True),
        (files.test_a_host_that_is_not_there_is_noted,),
    ),
    Sabotage(
        "a node that stands in stands for all that is behind it",
        set_to(check, "of_plans", lambda cache, doubts, knows_nodes: OF_PLANS(cache, doubts, knows_nodes=True)),
        (files.test_what_stands_behind_a_node_that_stands_in_is_not_asked,),
    ),
    Sabotage(
        "who reads of a method thinks that it does something",
        set_to(drafting, "IDLE", ()),
        (files.test_a_method_that_changes_nothing_is_noted,),
    ),
)
