"""One line of harm each for the status of MachineHealthChecks: spec and status rooms, and their way over the wire."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.core.budget import test_rooms as test_budget_rooms
from tests.core.healthcheck import test_acting, test_remediation, test_rooms, test_status, test_templates
from tests.sabotage.running import Sabotage, set_to
from tests.sim import test_check_status
from tests.wire import test_checkstatus, test_clusterapi, test_requests

from noderemedy.core.budget import status as budget_status
from noderemedy.core.conditions import merged
from noderemedy.core.external import lifecycle
from noderemedy.core.healthcheck import acting, checks, controllers, remediation, specs, status, templates
from noderemedy.core.healthcheck.facts import SpecFact, gate_ref, spec_ref
from noderemedy.engine.ledger import Ledger
from noderemedy.model.checkstatus import Told
from noderemedy.model.decision import Decision, Fact
from noderemedy.model.room import Present, Stage
from noderemedy.model.time import MINUTE, Span
from noderemedy.wire import checkstatus, objects, requests

ROOMS, DECIDE, MERGED, HOLDING = test_status.ROOMS, status.decide, merged, acting.holding
CONDITION, CONDITION_BODY, PUBLISH = checkstatus.condition, checkstatus.condition_body, requests.publish


def spec_with_status(view: Any, now: Any) -> Decision:
    return Decision(facts=(Fact(spec_ref(view.at), SpecFact(view.at, view.check)),))


def dated_anew(known: Any, wanted: Any, now: str) -> Any:
    return tuple(replace(one, since=now) if isinstance(one, Told) else one for one in MERGED(known, wanted, now))


def blind_for_deletion(key: Any, reader: Any) -> Any:
    entry, found = reader.read(key), reader.read(gate_ref(key))
    both = isinstance(entry, Present) and isinstance(found, Present)
    return status.StatusView(key, entry.obj, "1", entry.first_seen, found.obj) if both else None


def rooms(which: int, **changes: Any) -> Any:
    """The rooms of the engine's tests, one of them changed."""
    changed = [replace(room, **changes) if number == which else room for number, room in enumerate(ROOMS)]
    return set_to(test_status, "ROOMS", tuple(changed))


OF_TEMPLATES = (
    Sabotage(
        "no machine states what became of its template",
        set_to(templates, "stated", lambda view, now: ()),
        (test_templates.test_a_sick_machine_states_what_became_of_the_template,),
    ),
    Sabotage(
        "a template is never there",
        set_to(lifecycle, "has_template", lambda wish: False),
        (test_templates.test_a_sick_machine_states_what_became_of_the_template,),
    ),
    Sabotage(
        "a healthy machine asks for a template",
        set_to(remediation, "recovered", lambda view, now: Decision(facts=templates.stated(view, now))),
        (test_templates.test_a_healthy_machine_states_nothing,),
    ),
    Sabotage(
        "checks are silent about templates",
        set_to(templates, "told", lambda check, news, unhealthy: ()),
        (test_templates.test_the_check_tells_it, test_templates.test_the_message_is_the_cause),
    ),
    Sabotage(
        "what was missing is missing for ever",
        set_to(templates, "one", lambda type, before, news, unhealthy: before),
        (test_templates.test_the_check_tells_it,),
    ),
    Sabotage(
        "every check has a template",
        set_to(templates, "TemplateRef", object),
        (test_templates.test_a_check_without_a_template_says_nothing_of_one,),
    ),
    Sabotage(
        "every machine speaks for every check",
        set_to(templates, "outcome", lambda check, type, *, is_there: f"{type} {is_there}"),
        (test_templates.test_the_first_of_several_machines_speaks,),
    ),
    Sabotage(
        "machines wake nobody",
        set_to(templates, "TemplateFact", SpecFact),
        (test_templates.test_its_check_is_woken,),
    ),
)

SPEC, STATUS = ROOMS.index(specs.ROOM), ROOMS.index(status.ROOM)
DECIDED = (
    Sabotage(
        "a status is part of the spec",
        rooms(SPEC, decide=spec_with_status),
        (test_status.test_a_status_write_wakes_no_machine,),
    ),
    Sabotage(
        "verdicts do not wait for specs",
        rooms(SPEC, stage=Stage.VERDICT),
        (test_status.test_a_new_spec_is_stated_before_any_verdict,),
    ),
    Sabotage(
        "a condition is dated anew at every look",
        set_to(status, "merged", dated_anew),
        (
            test_status.test_a_time_changes_with_its_status_only,
            test_status.test_what_is_over_and_told_stays_as_it_is,
            test_status.test_a_status_that_is_right_is_not_written,
            test_status.test_a_restart_writes_nothing,
            test_check_status.test_idle_and_restarted_it_writes_nothing,
        ),
    ),
    Sabotage(
        "conditions of others are lost",
        set_to(status, "merged", lambda known, wanted, now: MERGED((), wanted, now)),
        (
            test_status.test_conditions_of_others_stay_in_their_places,
            test_check_status.test_conditions_of_others_survive,
        ),
    ),
    Sabotage(
        "every status is right",
        set_to(status, "wanted_status", lambda view, now: replace(view.check.status, targets=None)),
        (
            test_status.test_a_new_check_gets_its_status,
            test_status.test_each_field_that_differs_is_written,
            test_status.test_a_status_follows_sick_and_well,
            test_status.test_openshifts_checks_get_theirs,
            test_check_status.test_the_status_follows_sick_and_well,
        ),
    ),
    Sabotage(
        "only the gate is told",
        set_to(status, "wanted_conditions", lambda view, now: (status.remediation_allowed(view.found),)),
        (
            test_status.test_trouble_is_told_while_it_lasts,
            test_status.test_what_is_over_and_told_stays_as_it_is,
            test_acting.test_what_a_check_says_of_itself,
        ),
    ),
    Sabotage(
        "problems are cut short",
        set_to(status, "MESSAGE_MAX", 20),
        (test_status.test_all_problems_are_in_the_message,),
    ),
    Sabotage(
        "a closed gate passes for open",
        set_to(status, "remediation_allowed", lambda found: test_status.OPEN),
        (test_status.test_a_closed_gate_says_why, test_check_status.test_the_status_follows_sick_and_well),
    ),
    Sabotage(
        "a count of any size",
        set_to(status, "INT32_MAX", 2**63),
        (test_status.test_counts_fit_into_the_api,),
    ),
    Sabotage(
        "a status room that polls",
        rooms(STATUS, decide=lambda view, now: replace(DECIDE(view, now), wake_at=now.mono + Span(60_000))),
        (test_status.test_idle_means_no_writes,),
    ),
    Sabotage(
        "a check that goes is written",
        rooms(STATUS, sees=blind_for_deletion),
        (test_status.test_a_check_that_goes_is_not_written,),
    ),
    Sabotage(
        "a paused check is written",
        set_to(
            status,
            "decide",
            lambda view, now: DECIDE(replace(view, check=replace(view.check, cluster_paused=False)), now),
        ),
        (test_status.test_a_paused_check_is_not_touched,),
    ),
    Sabotage(
        "writes of one key overtake each other",
        set_to(Ledger, "holds", lambda self, key: False),
        (test_status.test_changes_during_a_write_are_one_write_more,),
    ),
    Sabotage(
        "a refusal holds all rooms of an object",
        set_to(
            Ledger,
            "waits_until",
            lambda self, key, now: max((t.until for k, t in self._troubles.items() if k.ref == key.ref), default=None),
        ),
        (test_status.test_a_gate_never_waits_for_a_status,),
    ),
)


OTHERS = (
    Sabotage(
        "other controllers are not noticed",
        set_to(status, "other_controller", lambda check, first_seen, now: None),
        (
            test_status.test_another_controller_is_left_its_status,
            test_status.test_a_write_before_our_time_counts_for_an_hour,
            test_check_status.test_another_controller_keeps_its_status,
        ),
    ),
    Sabotage(
        "other controllers count for a day",
        set_to(controllers, "OTHERS_COUNT_FOR", Span.seconds(86_400)),
        (
            test_status.test_another_controller_is_left_its_status,
            test_status.test_a_write_before_our_time_counts_for_an_hour,
            test_remediation.test_after_a_restart_the_silence_of_another_counts,
        ),
    ),
    Sabotage(
        "other controllers are forgotten after an hour",
        set_to(controllers, "is_since_we_look", lambda writer, first_seen, now: False),
        (
            test_status.test_another_controller_is_left_its_status,
            test_remediation.test_another_controller_is_left_all_machines_of_its_check,
            test_check_status.test_another_controller_keeps_its_status,
        ),
    ),
    Sabotage(
        "nobody can give a check to us",
        set_to(
            status,
            "decide",
            lambda view, now: DECIDE(replace(view, check=replace(view.check, governs=False)), now),
        ),
        (test_status.test_a_person_can_give_the_check_to_us,),
    ),
    Sabotage(
        "we pass for another controller",
        set_to(checkstatus, "FIELD_MANAGER", "somebody"),
        (
            test_checkstatus.test_other_writers_of_the_status_are_known,
            test_check_status.test_the_status_follows_sick_and_well,
        ),
    ),
)

LISTED = (
    Sabotage(
        "names are written at every turn",
        set_to(status, "new_targets", lambda view: view.targets),
        (test_status.test_the_names_of_the_targets_are_written_when_they_change,),
    ),
    Sabotage(
        "a limit that concerns nobody is told",
        set_to(checks, "concerns_somebody", lambda reason, count: True),
        (test_rooms.test_the_gate_closes_before_the_first_timeout,),
    ),
)
ON_THE_WIRE = (
    Sabotage(
        "an empty text is written in every version",
        set_to(checkstatus, "condition_body", lambda one, version: CONDITION_BODY(one, "v1beta2")),
        (
            test_checkstatus.test_an_empty_text_is_written_only_where_it_must_be_there,
            test_clusterapi.test_the_status_of_a_check_is_accepted,
            test_clusterapi.test_what_others_told_without_a_word_is_accepted_again,
        ),
    ),
    Sabotage(
        "an empty text is written in no version",
        set_to(checkstatus, "condition_body", lambda one, version: CONDITION_BODY(one, "v1beta1")),
        (
            test_checkstatus.test_an_empty_text_is_written_only_where_it_must_be_there,
            test_clusterapi.test_the_status_of_a_check_is_accepted,
        ),
    ),
    Sabotage(
        "every version has a severity",
        set_to(checkstatus, "WITHOUT_SEVERITY", ()),
        (test_checkstatus.test_severity_is_written_where_the_version_has_it,),
    ),
    Sabotage(
        "numbers are believed",
        set_to(checkstatus, "number", lambda value: value),
        (test_checkstatus.test_garbage_in_a_status_counts_as_nothing,),
    ),
    Sabotage(
        "what is not ours is not read",
        set_to(
            checkstatus, "condition", lambda item, ours: one if isinstance(one := CONDITION(item, ours), Told) else None
        ),
        (
            test_checkstatus.test_a_status_is_read_with_all_that_is_ours,
            test_checkstatus.test_a_condition_that_is_none_goes_back_as_it_came,
            test_checkstatus.test_a_status_is_read_back_as_it_was_written,
            test_check_status.test_conditions_of_others_survive,
        ),
    ),
    Sabotage(
        "everything is foreign",
        set_to(checkstatus, "condition", lambda item, ours: CONDITION(item, ())),
        (
            test_checkstatus.test_a_condition_of_ours_with_garbage_is_read_as_empty,
            test_checkstatus.test_a_status_is_read_with_all_that_is_ours,
        ),
    ),
    Sabotage(
        "depth is not expected",
        set_to(objects, "UNREADABLE", (ValueError,)),
        (test_checkstatus.test_no_depth_ends_a_watch,),
    ),
    Sabotage(
        "a status is written without its version",
        set_to(
            requests,
            "publish",
            lambda action, resource: PUBLISH(
                replace(action, guard=replace(action.guard, resource_version="")), resource
            ),
        ),
        (test_requests.test_each_action_has_one_request,),
    ),
)

IN_TIME = (
    Sabotage(
        "figures are written one by one",
        set_to(status, "APART", Span(0)),
        (test_status.test_figures_wait_and_conditions_do_not,),
    ),
    Sabotage(
        "conditions wait like figures",
        set_to(status, "is_figures_only", lambda wanted, known: True),
        (test_status.test_figures_wait_and_conditions_do_not,),
    ),
    Sabotage(
        "figures of the budget are written one by one",
        set_to(budget_status, "APART", Span(0)),
        (test_budget_rooms.test_figures_wait_and_conditions_do_not,),
    ),
)

ACTING = (
    Sabotage(
        "a check always says that it acts",
        set_to(acting, "holding", lambda at, check, now: ()),
        (
            test_acting.test_what_a_check_says_of_itself,
            test_acting.test_all_that_holds_it_is_named,
            test_acting.test_each_change_is_one_write,
            test_check_status.test_a_person_sees_on_the_check_that_it_is_held,
        ),
    ),
    Sabotage(
        "only the first is named",
        set_to(acting, "holding", lambda at, check, now: list(HOLDING(at, check, now))[:1]),
        (test_acting.test_all_that_holds_it_is_named,),
    ),
    Sabotage(
        "a pause that ends is told when something else happens",
        set_to(acting, "next_look", lambda check, now: None),
        (
            test_acting.test_a_pause_that_ends_by_itself_is_told,
            test_acting.test_the_end_of_a_pause_is_looked_for_whatever_else_is_written,
        ),
    ),
    Sabotage(
        "an end that is over is looked for",
        set_to(acting, "next_look", lambda check, now: now.mono + MINUTE if check.paused else None),
        (test_acting.test_nothing_is_looked_for_that_needs_no_look,),
    ),
    Sabotage(
        "Acting is somebody else's",
        set_to(
            checkstatus,
            "condition",
            lambda item, ours: CONDITION(item, tuple(one for one in ours if one != "Acting")),
        ),
        (test_check_status.test_a_person_sees_on_the_check_that_it_is_held,),
    ),
)

CHECK_STATUS = (*OF_TEMPLATES, *DECIDED, *IN_TIME, *OTHERS, *LISTED, *ON_THE_WIRE, *ACTING)
