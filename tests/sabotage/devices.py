"""Sabotages of what runs fence agents, with the tests that see them. `tests/test_sabotage_devices.py` runs them."""

from __future__ import annotations

import re

from tests.core.fencing import test_redaction, test_results, test_staleness
from tests.deploy import test_detached_volumes as detached
from tests.drivers import test_kdump as drivers_kdump
from tests.drivers.fence import test_agents, test_standins
from tests.manager import test_jobruns
from tests.sabotage.running import Sabotage, item_to, set_to
from tests.wire import test_fenceagent, test_fenceanswer, test_fencejobs, test_kdump

from noderemedy.core.fencing import redaction, results
from noderemedy.drivers import kdump
from noderemedy.drivers.fence import agents
from noderemedy.manager import jobruns
from noderemedy.model import run
from noderemedy.model.ids import NODE
from noderemedy.model.run import Power, Result, RunState
from noderemedy.model.time import Span
from noderemedy.wire import fenceagent, fenceanswer, fencejobs

SABOTAGES: tuple[Sabotage, ...] = (
    Sabotage(
        "any eight bytes are a dump",
        set_to(test_kdump, "is_dump", lambda datagram: len(datagram) == 8),
        (test_kdump.test_what_is_a_dump,),
    ),
    Sabotage(
        "every message wakes somebody",
        set_to(kdump, "EACH_S", 0.0),
        (drivers_kdump.test_a_sender_passes_once_a_second,),
    ),
    Sabotage(
        "a flood wakes everybody",
        set_to(kdump.Listener, "_is_due", lambda self, sender: True),
        (drivers_kdump.test_a_flood_wakes_nobody_more_than_a_hundred_times,),
    ),
    Sabotage(
        "exit code 1 of status means off",
        item_to(results.STATUS_SAYS, 1, Power.OFF),
        (test_results.test_what_status_says, test_results.test_a_deed_is_done_only_if_the_device_says_so_twice),
    ),
    Sabotage(
        "one look is enough",
        set_to(results, "LOOKS", 1),
        (test_results.test_a_deed_is_done_only_if_the_device_says_so_twice,),
    ),
    Sabotage(
        "agents that call off what they do not understand are believed",
        set_to(results, "LISTED", frozenset()),
        (test_results.test_off_is_believed_by_the_list_only, test_results.test_a_drill_shows_what_the_list_would_not),
    ),
    Sabotage(
        "a list that failed shows all",
        set_to(results, "complaint", lambda *_: ""),
        (test_results.test_off_is_believed_by_the_list_only,),
    ),
    Sabotage(
        "any list shows every plug",
        set_to(results, "unlisted", lambda order, printed: ""),
        (test_results.test_off_is_believed_by_the_list_only, test_results.test_a_drill_shows_what_the_list_would_not),
    ),
    Sabotage(
        "an agent chooses a system by itself",
        set_to(fenceagent, "NEEDED", {}),
        (test_fenceagent.test_what_an_agent_would_choose_by_itself_is_required,),
    ),
    Sabotage(
        "whatever a PDU answers is off",
        set_to(test_standins, "odd", lambda printed, answers: ""),
        (test_standins.test_an_answer_is_on_or_off_or_odd,),
    ),
    Sabotage(
        "what agents print is shown as it is",
        set_to(results, "redact", lambda text, secrets: text),
        (
            test_results.test_secrets_are_not_in_messages,
            test_results.test_garbage_is_survived,
            test_results.test_a_log_shows_all_but_what_is_secret,
        ),
    ),
    Sabotage(
        "a search that goes back and forth for ever",
        set_to(results, "_ADVICE", re.compile("(?:[^!]|.)*\x00\x00")),
        (test_results.test_garbage_is_survived,),
    ),
    Sabotage(
        "what is seen once more is not asked for",
        set_to(results, "is_so", lambda seen, wanted: wanted in seen),
        (test_results.test_whatever_two_looks_print_only_what_they_say_counts,),
    ),
    Sabotage(
        "a plug is looked for anywhere in the list",
        set_to(results, "unlisted", lambda order, printed: "" if "LINUX1" in printed else "no"),
        (test_results.test_whatever_a_list_prints_off_needs_the_plug_in_it,),
    ),
    Sabotage(
        "complaints come after the answer",
        set_to(test_standins, "shown", lambda printed, complained: printed + complained),
        (test_standins.test_an_answer_that_passes_is_the_one_that_agents_read,),
    ),
    Sabotage(
        "blanks around an answer are cut off",
        set_to(test_standins, "odd", lambda printed, answers: "" if printed.split()[-1:] == ["1"] else "odd"),
        (test_standins.test_an_answer_that_passes_is_the_one_that_agents_read,),
    ),
    Sabotage(
        "a login in base64 is shown",
        set_to(redaction, "within_base64", lambda plain, before: ""),
        (test_redaction.test_a_login_in_base64_shows_no_letter_of_the_password,),
    ),
    Sabotage(
        "credentials that a device hands out are shown",
        set_to(results, "_CREDENTIAL", re.compile("(?!)")),
        (
            test_results.test_a_log_shows_all_but_what_is_secret,
            test_results.test_what_a_device_hands_out_is_not_in_messages_either,
        ),
    ),
    Sabotage(
        "only the plain form of a secret is hidden",
        set_to(redaction, "writings", lambda secret: (secret,)),
        (test_redaction.test_a_secret_is_hidden_however_it_is_written,),
    ),
    Sabotage(
        "secrets of two letters are looked for",
        set_to(redaction, "SHORTEST", 1),
        (test_redaction.test_nothing_is_shown_where_a_secret_cannot_be_found,),
    ),
    Sabotage(
        "escape sequences are shown",
        set_to(results, "_CONTROL", results._PREFIX),
        (test_results.test_the_line_that_tells_most,),
    ),
    Sabotage("no parameter is named", set_to(results, "HINTS", ()), (test_results.test_a_missing_plug_is_named,)),
    Sabotage(
        "nobody doubts that it is the right device",
        set_to(results, "WHICH", ()),
        (
            test_results.test_a_device_that_does_something_else_may_be_another_one,
            test_results.test_a_deed_is_done_only_if_the_device_says_so_twice,
        ),
    ),
    Sabotage(
        "every order needs its fence, or none",
        set_to(run, "NODE_FENCE", NODE),
        (test_staleness.test_only_a_question_needs_no_fence,),
    ),
    Sabotage(
        "an unreadable message is a success",
        set_to(fenceanswer, "UNTOLD", Result(RunState.DONE)),
        (test_fenceanswer.test_whatever_else_a_job_says_is_a_failure,),
    ),
    Sabotage(
        "a result may be of any length",
        set_to(fenceanswer, "RESULT_MAX", 1 << 20),
        (test_fenceanswer.test_a_long_result_is_cut_to_what_kubernetes_keeps,),
    ),
    Sabotage(
        "the word of a container is believed whatever its exit code",
        set_to(fencejobs, "of_container", lambda ended: fenceanswer.read_result(ended.message)),
        (test_fencejobs.test_what_a_pod_tells,),
    ),
    Sabotage(
        "nobody says whose run it was",
        set_to(results, "about", lambda order, result: result),
        (test_results.test_a_result_is_about_its_order, test_jobruns.test_whatever_a_pod_tells_names_node_and_method),
    ),
    Sabotage(
        "Jobs get all that the agents of a process get",
        set_to(test_agents, "handed_on", agents.surroundings),
        (test_agents.test_a_secret_in_a_value_is_withheld, test_agents.test_all_else_stays_here),
    ),
    Sabotage(
        "whatever has the right name is handed on to Jobs",
        set_to(agents, "is_harmless", lambda name, value: name.lower() in agents.HANDED_ON),
        (test_agents.test_a_secret_in_a_value_is_withheld,),
    ),
    Sabotage(
        "a drill is as urgent as a fence",
        set_to(run.Order, "is_drill", False),
        (
            test_fencejobs.test_a_drill_takes_nobodys_place_and_is_soon_cleared_away,
            test_jobruns.test_four_devices_are_drilled_at_a_time_and_no_fence_waits_for_them,
            test_jobruns.test_a_stop_calls_off_drills_that_wait,
        ),
    ),
    Sabotage(
        "a drill that waits for its turn is late",
        set_to(jobruns, "replace", lambda order, **_: order),
        (test_jobruns.test_the_time_of_a_drill_begins_with_its_lane,),
    ),
    Sabotage(
        "a server that breaks has made no Job",
        set_to(jobruns, "BROKEN", 1_000),
        (test_jobruns.test_a_job_of_a_drill_that_may_have_been_made_keeps_its_lane,),
    ),
    Sabotage(
        "every pod has privileges",
        set_to(fencejobs, "UNPRIVILEGED", {"privileged": True, "capabilities": {}}),
        (test_fencejobs.test_only_what_touches_disks_has_privileges,),
    ),
    Sabotage(
        "no margin for the deadline",
        set_to(fencejobs, "MARGIN", Span(0)),
        (test_fencejobs.test_a_job_has_one_try_and_a_deadline,),
    ),
    Sabotage(
        "what is not attached is nobody's business",
        set_to(detached.plugin, "uncovered", lambda *_: []),
        (
            detached.test_what_is_within_reach_and_not_attached_is_named,
            detached.test_the_volume_of_a_claim_must_be_attached,
        ),
    ),
    Sabotage(
        "NFS is the node's own",
        set_to(detached.plugin, "OF_THE_NODE", (*detached.plugin.OF_THE_NODE, "nfs")),
        (detached.test_what_is_within_reach_and_not_attached_is_named,),
    ),
    Sabotage(
        "every volume is the node's own",
        set_to(detached.plugin, "is_of_the_node", lambda volume, node: True),
        (detached.test_the_volume_of_a_claim_must_be_attached,),
    ),
    Sabotage(
        "pods that have ended hold volumes",
        set_to(detached.plugin, "OVER", ()),
        (detached.test_every_attachment_is_detached,),
    ),
)
