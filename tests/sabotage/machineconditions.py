"""One line of harm each for what is told on Machines: the shelf that decides it, and its way over the wire."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.core import test_conditions
from tests.core.fencing import test_request
from tests.core.healthcheck import test_remediation as test_health_remediation
from tests.core.metal3 import test_remediation
from tests.sabotage.running import Sabotage, set_to
from tests.wire import test_clusterapi, test_machineconditions

from noderemedy.core import conditions
from noderemedy.core.healthcheck import remediation
from noderemedy.model.ids import MACHINE
from noderemedy.model.machineconditions import Graded, MachineConditions
from noderemedy.wire import machineconditions

MERGED = conditions.merged
BODY = machineconditions.condition_body


def dated_anew(known: Any, wanted: Any, now: str, dropped: Any = None) -> Any:
    return tuple(replace(one, since=now) if isinstance(one, Graded) else one for one in MERGED(known, wanted, now))


MACHINE_CONDITIONS = (
    Sabotage(
        "what is told on machines is dated anew at every look",
        set_to(conditions, "merged", dated_anew),
        (
            test_conditions.test_a_time_changes_with_its_status_only,
            test_conditions.test_said_once_it_is_not_written_again,
        ),
    ),
    Sabotage(
        "what others said of a machine is lost",
        set_to(conditions, "merged", lambda known, wanted, now, dropped: MERGED((), wanted, now)),
        (
            test_conditions.test_both_generations_say_the_same_in_their_own_words,
            test_conditions.test_only_what_is_dropped_goes,
            test_conditions.test_said_once_it_is_not_written_again,
        ),
    ),
    Sabotage(
        "owners are told nothing along",
        set_to(conditions, "ask_owner", lambda at, entry, word, now: conditions.write(at, entry, (word,), now)),
        (
            test_remediation.test_owners_of_both_generations_see_the_escalation,
            test_request.test_when_fencing_does_not_help_the_owner_is_asked,
        ),
    ),
    Sabotage(
        "what a health check says does not count",
        set_to(MachineConditions, "find", lambda told, type: None),
        (test_conditions.test_an_owner_is_told_that_the_machine_is_sick_where_nobody_says_how_it_is,),
    ),
    Sabotage(
        "what was said along stays",
        set_to(conditions, "along", lambda word: word),
        (
            test_conditions.test_an_owner_is_told_that_the_machine_is_sick_where_nobody_says_how_it_is,
            test_conditions.test_what_was_said_along_is_taken_back_with_the_word,
        ),
    ),
    Sabotage(
        "a check answers for what a request said along",
        set_to(remediation, "is_said_along", lambda one: False),
        (test_health_remediation.test_what_a_request_said_along_is_its_own_to_take_back,),
    ),
    Sabotage(
        "a missing generation is a reason to write",
        set_to(conditions, "is_news", lambda wanted, known: wanted != (known or ())),
        (
            test_conditions.test_a_generation_without_a_place_is_written_along_but_is_no_reason,
            test_conditions.test_what_has_no_place_for_conditions_is_told_nothing,
        ),
    ),
    Sabotage(
        "both generations use the same words",
        set_to(conditions, "OLDER_NAMES", {}),
        (test_conditions.test_both_generations_say_the_same_in_their_own_words,),
    ),
    Sabotage(
        "the older generation explains what is well",
        set_to(conditions, "in_older", lambda one: replace(one, severity="")),
        (test_conditions.test_what_is_well_needs_no_words_in_the_older_generation,),
    ),
    Sabotage(
        "the object's own generation is always the older one",
        set_to(MachineConditions, "is_current", property(lambda told: False)),
        (test_conditions.test_one_generation_is_that_of_the_object_itself,),
    ),
    Sabotage(
        "all versions keep conditions in the same place",
        set_to(machineconditions, "CURRENT_VERSION", "v1beta1"),
        (
            test_machineconditions.test_each_version_keeps_its_generations_elsewhere,
            test_machineconditions.test_each_version_is_written_where_it_is_read,
        ),
    ),
    Sabotage(
        "old versions know the current generation",
        set_to(machineconditions, "SINGLE", ()),
        (test_machineconditions.test_each_version_is_written_where_it_is_read,),
    ),
    Sabotage(
        "what the schema requires is left out",
        set_to(machineconditions, "condition_body", lambda one, required=(): BODY(one)),
        (
            test_machineconditions.test_each_version_is_written_where_it_is_read,
            test_clusterapi.test_the_conditions_of_a_machine_are_accepted,
        ),
    ),
    Sabotage(
        "conditions of openshift are ours",
        set_to(machineconditions, "MACHINE", replace(MACHINE, group="machine.openshift.io")),
        (test_machineconditions.test_conditions_of_openshift_are_nobodys_business,),
    ),
    Sabotage(
        "texts of conditions are believed",
        set_to(machineconditions, "word", lambda value: value),
        (test_machineconditions.test_garbage_in_a_condition_of_ours_is_read_as_empty,),
    ),
)
