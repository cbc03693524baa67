"""Sabotages of the fence configuration: one line of harm each. `tests/test_sabotage_fenceconf.py` runs them."""

from __future__ import annotations

import re

from msgspec.structs import replace
from tests.cli import test_agents_command, test_check_files
from tests.core.fencing import (
    test_disks,
    test_drilling,
    test_drills,
    test_elsewhere,
    test_forms,
    test_hostdrill,
    test_pairing,
    test_paths,
    test_plan,
    test_refusals,
)
from tests.drivers.fence import test_disks as test_driven_disks
from tests.drivers.fence import test_identity, test_ownkey
from tests.manager import test_asking, test_drill, test_runs
from tests.runner import test_program
from tests.sabotage.running import Sabotage, item_to, set_to
from tests.wire import (
    test_fenceagent,
    test_fenceconfig,
    test_fencejobs,
    test_objects,
    test_properties,
    test_selectortext,
)

from noderemedy.cli import agents as cli_agents
from noderemedy.core.fencing import (
    agents,
    clouds,
    configs,
    describing,
    devices,
    disks,
    documents,
    drafting,
    drilling,
    drills,
    elsewhere,
    forms,
    hostdrill,
    identities,
    letters,
    merging,
    pairing,
    placeholders,
    plan,
    plugs,
    scopes,
    staleness,
    storage,
)
from noderemedy.core.fencing import runs as fence_runs
from noderemedy.core.fencing.clouds import SOAP
from noderemedy.core.fencing.disks import Peer
from noderemedy.core.fencing.drills import Finding
from noderemedy.core.fencing.facts import NODES, SETS
from noderemedy.core.fencing.placeholders import Filled
from noderemedy.drivers.fence import identity, ownkey, verify
from noderemedy.manager import drill as by_hand
from noderemedy.manager.asking import Asking
from noderemedy.manager.liveplan import look_at
from noderemedy.manager.plan import Look
from noderemedy.manager.runs import Runs
from noderemedy.model.agent import IPMI_AGENTS, AgentDescription
from noderemedy.model.drill import Drill
from noderemedy.model.fenceplan import FencePlan, Plug, Scope, Step
from noderemedy.model.host import Host, Login
from noderemedy.model.node import Node
from noderemedy.model.nodefence import FenceEvidence, FenceJob
from noderemedy.model.room import Present
from noderemedy.model.run import Deed, Order, SecretParameter
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span, Wall
from noderemedy.wire import fenceagent, fenceconfig, fencejobs, objects, properties, selectortext


async def nobody(*_: object) -> str:
    return ""


async def by_the_clock(runs: Runs, order: Order) -> str:
    """Whether a drill is too late by when it was ordered."""
    return staleness.too_late(order, Wall(1 << 40))


MERGE, FILL, STORING = merging.merge, placeholders.fill, storage.storing
ANYTHING = re.compile(r".*", re.DOTALL)


def without_a_place(found: clouds.Instance | None) -> clouds.Instance | None:
    """An instance of which nothing counts but its plug, and that only where AWS, GCE or Azure has it."""
    kept = () if found is None or found.needs_template else found.parameters[:1]
    return replace(found, parameters=kept) if found else None


READING = (
    Sabotage(
        "quotes are kept",
        set_to(properties, "unquoted", lambda value: value),
        (test_properties.test_a_pair_of_quotes_is_taken_off,),
    ),
    Sabotage(
        "every name is a name",
        set_to(properties, "KEY", ANYTHING),
        (test_properties.test_what_is_wrong_is_named_by_its_line,),
    ),
    Sabotage(
        "complaints without end",
        set_to(properties, "PROBLEMS_MAX", 10_000),
        (test_properties.test_problems_are_bounded,),
    ),
    Sabotage(
        "a document type is read",
        set_to(fenceagent, "refuse_doctype", lambda *_: None),
        (test_fenceagent.test_garbage_is_a_description_with_a_problem,),
    ),
    Sabotage(
        "only the first letter may be metadata",
        set_to(fenceagent, "BEGINNINGS", ("nothing",)),
        (test_fenceagent.test_warnings_before_the_document_are_skipped,),
    ),
    Sabotage(
        "every depth is read",
        set_to(fenceagent, "DEPTH_MAX", 10_000),
        (test_fenceagent.test_garbage_is_a_description_with_a_problem,),
    ),
    Sabotage(
        "a password may stand in the open",
        set_to(fenceconfig, "is_secret", lambda name: False),
        (test_fenceconfig.test_a_password_in_the_open_is_refused_and_forgotten, test_fenceconfig.test_no_data_raises),
    ),
    Sabotage(
        "every parameter is a password",
        set_to(fenceconfig, "is_secret", lambda name: True),
        (test_fenceconfig.test_other_parameters_are_no_passwords,),
    ),
    Sabotage(
        "a reboot is on, then off",
        item_to(fenceconfig.DEEDS, "reboot", (Deed.ON, Deed.OFF)),
        (test_fenceconfig.test_a_reboot_is_off_then_on,),
    ),
    Sabotage(
        "any agent may be run",
        set_to(fenceconfig, "AGENT", ANYTHING),
        (test_fenceconfig.test_what_is_wrong_is_named,),
    ),
    Sabotage(
        "unknown words are fine",
        set_to(fenceconfig, "unknown_words", lambda document: []),
        (test_fenceconfig.test_what_is_wrong_is_named, test_refusals.test_a_wrong_step_is_refused),
    ),
    Sabotage(
        "every selector selects all",
        set_to(fenceconfig, "read_selector_text", lambda text: Selector()),
        (test_fenceconfig.test_a_set_of_nodes_has_a_selector_and_no_name, test_fenceconfig.test_what_is_wrong_is_named),
    ),
    Sabotage(
        "labels may be called anything",
        set_to(selectortext, "KEY", ANYTHING),
        (test_selectortext.test_what_cannot_be_read_is_refused,),
    ),
)
PLANNING = (
    Sabotage(
        "a document that cannot be read holds no plugs",
        set_to(documents, "known", lambda entry: entry.obj if isinstance(entry, Present) else None),
        (
            test_plan.test_a_document_that_cannot_be_read_any_more_holds_its_plugs,
            test_plan.test_a_template_that_cannot_be_read_any_more_can_not_be_used,
        ),
    ),
    Sabotage(
        "a document that cannot be read is as good as before",
        set_to(documents, "Unreadable", ()),
        (test_plan.test_a_document_that_cannot_be_read_any_more_holds_its_plugs,),
    ),
    Sabotage(
        "every agent reaches every node",
        set_to(agents, "unreachable", lambda agent, cluster: []),
        (
            test_refusals.test_a_disk_is_refused_where_agents_are_processes,
            test_refusals.test_a_disk_of_another_cluster_is_refused,
        ),
    ),
    Sabotage(
        "templates win",
        set_to(drafting, "merge", lambda name, own, shared, *rest, **more: MERGE(name, shared, own, *rest, **more)),
        (test_plan.test_own_words_override_the_template,),
    ),
    Sabotage(
        "shared parameters fence",
        set_to(merging, "no_mapping", lambda is_for_one: ""),
        (test_refusals.test_shared_parameters_alone_never_fence,),
    ),
    Sabotage(
        "placeholders stay as they are",
        set_to(merging, "fill", lambda value, name, node: Filled(value)),
        (test_plan.test_one_document_speaks_of_a_set_of_nodes, test_refusals.test_a_wrong_method_is_refused),
    ),
    Sabotage(
        "a value may hold a line break",
        set_to(merging, "fill", lambda value, name, node: replace(FILL(value, name, node), problem="")),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "nodes may write what they like",
        set_to(placeholders, "stray", lambda value: ""),
        (test_refusals.test_what_a_node_writes_is_held_to_few_letters,),
    ),
    Sabotage(
        "a path may lead to somebody else's",
        set_to(letters, "TOGETHER", ()),
        (test_refusals.test_what_a_node_writes_is_held_to_few_letters,),
    ),
    Sabotage(
        "no name can be written",
        set_to(placeholders, "stray", lambda value: letters.stray(value, re.compile("[a-z]"))),
        (test_refusals.test_names_and_addresses_are_filled_in,),
    ),
    Sabotage(
        "a blank ends nothing",
        set_to(agents, "unwritable", lambda agent, values: iter(())),
        (
            test_refusals.test_a_value_that_would_be_another_option_is_refused,
            test_refusals.test_a_range_of_plugs_is_refused,
            test_refusals.test_a_list_of_plugs_is_refused,
        ),
    ),
    Sabotage(
        "an outlet may have any name",
        set_to(letters, "NUMBERED", ()),
        (test_refusals.test_an_outlet_of_a_pdu_is_a_number,),
    ),
    Sabotage(
        "no machine has a blank in its name",
        set_to(letters, "WORDS", letters.NO_OPTION),
        (test_refusals.test_what_can_be_meant_is_let_through,),
    ),
    Sabotage(
        "a shell takes nothing away",
        set_to(letters, "BEFORE_A_DASH", " "),
        (test_refusals.test_a_value_that_would_be_another_option_is_refused,),
    ),
    Sabotage(
        "every address is a host",
        set_to(letters, "HOST", ANYTHING),
        (test_refusals.test_a_value_that_would_be_another_option_is_refused,),
    ),
    Sabotage(
        "a script is a file",
        set_to(agents, "REFUSED", {key: why for key, why in agents.REFUSED.items() if key != "openrc"}),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "a providerID may hold anything",
        set_to(clouds, "stray", lambda value, letters: ""),
        (test_refusals.test_an_instance_that_cannot_be_switched_says_why,),
    ),
    Sabotage(
        "a machine of vSphere is known by its name",
        item_to(clouds.CLOUDS, "vsphere", lambda path: clouds.Instance("vsphere", SOAP, (("plug", "n1"),))),
        (test_plan.test_a_machine_of_vsphere_is_known_by_its_uuid,),
    ),
    Sabotage(
        "a method may mean another machine than the providerID",
        set_to(plan, "elsewhere", lambda method, provider_id: iter(())),
        (
            test_elsewhere.test_a_clouds_template_names_no_other_place,
            test_elsewhere.test_a_method_of_a_node_means_its_own_instance,
            test_elsewhere.test_nodes_of_a_set_take_it_from_their_providerids,
        ),
    ),
    Sabotage(
        "what is left out says the same",
        set_to(elsewhere, "NAMED_WITHIN", ()),
        (test_elsewhere.test_a_method_of_a_node_means_its_own_instance,),
    ),
    Sabotage(
        "an instance is its plug, wherever that is",
        set_to(elsewhere, "instance_of", lambda text: without_a_place(clouds.instance_of(text))),
        (test_drills.test_an_answer_is_judged, test_drills.test_another_place_is_told_with_both_words),
    ),
    Sabotage(
        "a machine is known by one name of its plug",
        set_to(elsewhere, "OLD", {}),
        (test_drills.test_an_answer_is_judged, test_elsewhere.test_a_clouds_template_names_no_other_place),
    ),
    Sabotage(
        "every agent knows providerIDs",
        set_to(drafting, "foreign", lambda recipe, instance: []),
        (test_plan.test_an_agent_that_knows_names_only_is_told_them,),
    ),
    Sabotage(
        "a document that is wrong holds nothing",
        set_to(drafting, "written", lambda sources: ()),
        (
            test_plan.test_a_document_that_cannot_be_used_holds_its_plugs_all_the_same,
            test_plan.test_two_documents_of_one_node_hold_the_plugs_of_both,
        ),
    ),
    Sabotage(
        "what cannot be used hangs on nothing",
        set_to(plan, "loose_plugs", lambda draft: ()),
        (test_plan.test_a_method_that_cannot_be_used_holds_its_plug,),
    ),
    Sabotage(
        "every spelling is another plug",
        set_to(plugs, "plain", lambda value: value),
        (test_plan.test_one_plug_may_be_spelt_in_two_ways,),
    ),
    Sabotage(
        "a list of plugs is one plug",
        set_to(letters, "SEPARATOR", "\0"),
        (test_plan.test_one_of_several_plugs_is_enough_for_a_clash,),
    ),
    Sabotage(
        "a switch is part of an outlet's name",
        set_to(plugs, "SWITCHED", re.compile(r"(?!)")),
        (test_plan.test_one_of_several_plugs_is_enough_for_a_clash,),
    ),
    Sabotage(
        "where a machine is tells nothing",
        set_to(plugs, "APART", ()),
        (
            test_plan.test_machines_of_one_name_are_told_apart,
            test_plan.test_a_clash_ends_when_both_say_where_their_machine_is,
        ),
    ),
    Sabotage(
        "who leaves a zone out is elsewhere",
        set_to(plan, "is_same", lambda one, other: one.apart == other.apart),
        (
            test_plan.test_machines_of_one_name_are_told_apart,
            test_plan.test_one_of_several_plugs_is_enough_for_a_clash,
        ),
    ),
    Sabotage(
        "a secret may split a list of plugs",
        set_to(agents, "is_open", lambda parameter: parameter.name in merging.PLACES),
        (test_plan.test_how_a_list_of_plugs_is_split_is_no_secret,),
    ),
    Sabotage(
        "who was deleted to free it hangs on nothing",
        set_to(documents, "fence_of", lambda key, reader: None),
        (test_plan.test_a_node_that_its_fence_deleted_keeps_its_plugs,),
    ),
    Sabotage(
        "no two plugs are the same",
        set_to(plan, "others", lambda key, plug, reader: ()),
        (
            test_plan.test_two_nodes_on_one_plug_are_both_refused,
            test_plan.test_one_device_is_recognised_under_other_names,
        ),
    ),
    Sabotage(
        "a port does not tell devices apart",
        set_to(agents, "plugs_by", lambda agent, values: (Plug(values.get("ip", "")),)),
        (test_plan.test_two_ports_of_one_address_are_two_devices,),
    ),
    Sabotage(
        "a fabric switches power",
        set_to(agents, "scope_of", lambda agent, values: Scope.POWER),
        (test_refusals.test_a_wrong_method_is_refused, test_plan.test_the_seeds_configuration_becomes_a_plan),
    ),
    Sabotage(
        "anything may stand in power management",
        item_to(scopes.PLACED, (False, Step.POWER_MANAGEMENT), ((Deed.OFF, Deed.ON), "")),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "a file is a power switch",
        set_to(scopes, "TRIES", {}),
        (test_refusals.test_what_switches_no_machine_shows_the_flow_and_is_no_power,),
    ),
    Sabotage(
        "agents that call off what they do not understand are trusted",
        set_to(scopes, "SAYS_OFF", {}),
        (test_refusals.test_what_proves_nothing_is_refused,),
    ),
    Sabotage(
        "agents that prove nothing are trusted",
        set_to(agents, "unfit", lambda agent: ""),
        (test_refusals.test_what_proves_nothing_is_refused, test_refusals.test_a_wrong_method_is_refused),
    ),
    Sabotage(
        "nothing is required",
        set_to(agents, "missing", lambda *_: []),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "every value is of its type",
        set_to(agents, "mistyped", lambda parameter, value: ""),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "nothing is refused",
        set_to(agents, "refused", lambda parameter, value: ""),
        (test_refusals.test_a_wrong_method_is_refused,),
    ),
    Sabotage(
        "everything may be a secret",
        set_to(agents, "is_open", lambda parameter: False),
        (
            test_refusals.test_a_wrong_method_is_refused,
            test_plan.test_a_whole_secret_gives_texts_and_nothing_that_must_be_seen,
        ),
    ),
    Sabotage(
        "old names are unknown",
        set_to(AgentDescription, "find", lambda self, name: next((x for x in self.parameters if x.name == name), None)),
        (test_plan.test_own_words_override_the_template, test_plan.test_one_device_is_recognised_under_other_names),
    ),
    Sabotage(
        "an empty step is done",
        set_to(plan, "switches_off", lambda method: True),
        (test_refusals.test_a_wrong_step_is_refused,),
    ),
    Sabotage(
        "every builtin fits every step",
        set_to(drafting, "PLACED", dict.fromkeys(drafting.PLACED, tuple(Step))),
        (test_refusals.test_a_wrong_step_is_refused,),
    ),
    Sabotage(
        "two documents are one",
        set_to(plan, "drafted", lambda sources: drafting.drafted(replace(sources, configs=sources.configs[:1]))),
        (test_refusals.test_two_documents_for_one_node_are_refused,),
    ),
    Sabotage(
        "no cloud is known",
        set_to(clouds, "CLOUDS", {}),
        (
            test_plan.test_a_cloud_needs_a_template_and_nothing_else,
            test_plan.test_a_fence_of_a_cloud_node_needs_not_even_that,
        ),
    ),
    Sabotage(
        "every cloud is fenced unasked",
        set_to(documents, "has_default", lambda key, node, found, reader: bool(node.provider_id)),
        (test_plan.test_a_node_that_nobody_speaks_of_has_no_plan,),
    ),
    Sabotage(
        "who is gone is forgotten on the way",
        set_to(documents, "fence_of", lambda key, reader: None),
        (test_plan.test_a_node_that_was_deleted_on_the_way_keeps_its_plan,),
    ),
    Sabotage(
        "sets win over nodes",
        set_to(documents, "BY_NODE", "nothing"),
        (test_plan.test_the_document_of_a_node_wins_over_that_of_a_set,),
    ),
    Sabotage(
        "all clusters are one",
        set_to(documents, "node_key", lambda cluster, name: f" {name}"),
        (test_plan.test_a_node_of_another_cluster_has_a_document_of_its_own,),
    ),
    Sabotage(
        "a template concerns nobody",
        set_to(plan, "PLANS_BY_MAP", "nothing"),
        (test_plan.test_only_the_users_of_a_template_are_planned_anew,),
    ),
    Sabotage(
        "a template concerns everybody",
        set_to(plan, "concerned", lambda ref, obj, reader: list(reader.find(NODES, ""))),
        (test_plan.test_only_the_users_of_a_template_are_planned_anew,),
    ),
    Sabotage(
        "agents are asked without end",
        set_to(describing, "ASK_AGAIN", Span(1)),
        (test_plan.test_an_agent_is_asked_once_for_all_its_plans,),
    ),
    Sabotage(
        "what agents said is kept",
        set_to(describing, "PLANS_BY_AGENT", "nothing"),
        (test_plan.test_an_agent_is_asked_once_for_all_its_plans,),
    ),
    Sabotage(
        "nobody counts the nodes of a broken document",
        set_to(configs, "BROKEN_PLANS", "nothing"),
        (test_plan.test_what_is_wrong_is_told_once_on_the_document,),
    ),
    Sabotage(
        "a Node that is gone was nobody's instance",
        set_to(FenceEvidence, "provider_id", ""),
        (test_plan.test_how_to_switch_an_instance_on_outlives_its_node,),
    ),
    Sabotage(
        "what is not known yet is wrong",
        set_to(FencePlan, "is_pending", False),
        (
            test_plan.test_nobody_is_told_before_the_agents_have_answered,
            test_drilling.test_a_plan_that_is_not_checked_yet_says_nothing,
        ),
    ),
    Sabotage(
        "nobody waits for dumps",
        set_to(configs, "waits_for_dumps", lambda document: False),
        (test_plan.test_a_dump_that_nobody_hears_is_told,),
    ),
    Sabotage(
        "nodes are trusted silently",
        set_to(configs, "trusting", lambda document: set()),
        (test_plan.test_a_document_that_takes_a_nodes_word_says_so,),
    ),
    Sabotage(
        "a document for nobody is fine",
        set_to(configs, "lacking", lambda key, document, reader: None),
        (test_plan.test_a_document_for_nobody_says_so,),
    ),
)
FORMS = (
    Sabotage(
        "what is to be filled in is a value",
        set_to(agents, "TO_FILL", re.compile(r"(?!)")),
        (test_forms.test_an_empty_form_is_refused, test_refusals.test_a_wrong_method_is_refused),
    ),
    Sabotage(
        "secrets stand in the form",
        set_to(forms, "is_secret", lambda name: False),
        (
            test_forms.test_what_is_required_comes_first_and_secrets_are_references,
            test_forms.test_the_schema_says_what_is_secret_and_what_is_a_place,
        ),
    ),
    Sabotage(
        "everything is shared",
        set_to(forms, "is_own", lambda one, has_plug, names: False),
        (test_forms.test_a_filled_form_is_a_plan, test_forms.test_a_plan_of_a_form_switches_what_was_written),
    ),
    Sabotage(
        "what is refused is offered",
        set_to(forms, "refused", lambda one, value: ""),
        (test_forms.test_what_is_required_comes_first_and_secrets_are_references,),
    ),
)
DISKS = (
    Sabotage(
        "every key is found",
        set_to(disks, "KEY", re.compile(r".+")),
        (test_disks.test_names_and_keys_must_mean_the_same_everywhere,),
    ),
    Sabotage(
        "a disk has one name everywhere",
        set_to(disks, "STEADY", re.compile(r".+")),
        (test_disks.test_names_and_keys_must_mean_the_same_everywhere,),
    ),
    Sabotage(
        "a name makes a key another one",
        set_to(plugs, "KEYS", {}),
        (test_disks.test_two_nodes_have_two_keys,),
    ),
    Sabotage(
        "a node has as many keys as it likes",
        set_to(disks, "at_odds", lambda methods: ()),
        (test_disks.test_a_node_has_one_key_at_a_disk,),
    ),
    Sabotage(
        "whose fence cannot be read has none",
        set_to(disks, "is_fenced", lambda node, reader: False),
        (test_disks.test_whose_fence_cannot_be_read_is_not_asked,),
    ),
    Sabotage(
        "whoever is there will do",
        set_to(Node, "is_ready", True),
        (test_disks.test_who_could_not_carry_it_out_is_not_asked,),
    ),
    Sabotage(
        "one disk is as good as another",
        set_to(disks, "disks_of", lambda method: method.agent),
        (
            test_disks.test_who_shares_the_disks_can_cut_a_node_off,
            test_disks.test_another_one_is_asked_at_every_attempt,
        ),
    ),
    Sabotage(
        "any node takes a key away",
        set_to(fence_runs, "carrier", lambda view, job, method: None),
        (test_disks.test_a_node_is_cut_off_by_another_one_and_lets_itself_in,),
    ),
    Sabotage(
        "the node does it itself",
        set_to(fence_runs, "carrier", lambda view, job, method: Peer(view.name, "a1", "")),
        (
            test_disks.test_a_node_is_cut_off_by_another_one_and_lets_itself_in,
            test_disks.test_without_another_node_nothing_is_begun,
        ),
    ),
    Sabotage(
        "power waits for disks",
        set_to(disks, "is_alone", lambda peers, method: False),
        (
            test_disks.test_power_does_not_wait_for_disks_that_nobody_can_ask,
            test_disks.test_a_key_must_have_been_there_to_be_taken_away,
        ),
    ),
    Sabotage(
        "a key that is not there was taken away",
        set_to(FenceJob, "was_on", True),
        (test_disks.test_a_key_must_have_been_there_to_be_taken_away,),
    ),
    Sabotage(
        "what one disk holds no other does",
        set_to(
            storage, "covered", lambda view: tuple(name for one in storage.cutting_off(view) for name in one.covers)
        ),
        (test_disks.test_what_two_disks_hold_is_not_cut_off_by_one,),
    ),
    Sabotage(
        "a way that names no volumes leads nowhere",
        set_to(storage, "storing", lambda view: tuple(one for one in STORING(view) if one.covers)),
        (
            test_paths.test_what_is_behind_two_ports_is_freed_when_both_are_shut,
            test_paths.test_a_port_that_is_another_machines_keeps_the_way_open,
            test_paths.test_a_port_that_opens_by_itself_keeps_what_is_behind_it,
        ),
    ),
    Sabotage(
        "nobody wonders about covers",
        set_to(plan, "of_volumes", lambda *_: ""),
        (
            test_paths.test_covers_is_noted_where_it_is_missing_and_where_nobody_reads_it,
            test_paths.test_covers_of_a_clouds_template_is_noted_too,
        ),
    ),
    Sabotage(
        "every name is another disk",
        set_to(disks, "number", lambda device: device),
        (test_disks.test_a_disk_is_the_same_under_each_of_its_names,),
    ),
    Sabotage(
        "a node alone with its disk is fine",
        set_to(disks, "unshared", lambda plan, reader: ()),
        (test_drilling.test_a_disk_that_no_other_node_has_is_told,),
    ),
    Sabotage(
        "a container has the disks of its node",
        set_to(fencejobs, "host_paths", lambda order: {}),
        (test_fencejobs.test_what_uses_disks_sees_those_of_its_node,),
    ),
)
DRILLS = (
    Sabotage(
        "a silent node is asked, too",
        set_to(drills, "methods_of", lambda plan, node: drills.asked_once(plan)),
        (test_drilling.test_nobody_calls_well_what_a_silent_node_cannot_be_asked,),
    ),
    Sabotage(
        "what nobody could be asked about is well",
        set_to(drills, "unasked_of", lambda plan, node: ()),
        (test_drilling.test_nobody_calls_well_what_a_silent_node_cannot_be_asked,),
    ),
    Sabotage(
        "a node that is sick is silent",
        set_to(Node, "is_heard", property(lambda node: False)),
        (test_drills.test_what_runs_on_the_node_is_asked_while_it_reports,),
    ),
    Sabotage(
        "every device is this node's",
        set_to(drills, "another_device", lambda *_: ""),
        (test_drills.test_an_answer_is_judged,),
    ),
    Sabotage(
        "power says nothing",
        set_to(Node, "is_heard", property(lambda node: False)),
        (test_drills.test_an_answer_is_judged, test_drilling.test_the_time_of_a_change_is_that_of_its_status),
    ),
    Sabotage(
        "zeros are somebody's number",
        set_to(identities, "NOBODY", ()),
        (test_drills.test_an_answer_is_judged, test_refusals.test_the_number_of_a_device_is_one_that_it_can_tell),
    ),
    Sabotage(
        "whoever tells a number of its own is believed whatever it is",
        set_to(drills, "another_number", lambda method, *_: ""),
        (test_drills.test_an_answer_is_judged, test_drills.test_another_number_is_told_with_its_remedies),
    ),
    Sabotage(
        "every agent tells who its device is",
        set_to(merging, "TELLING", ("fence_pdu", "fence_ipmilan", "fence_redfish", "fence_aws")),
        (
            test_refusals.test_the_number_of_a_device_is_one_that_it_can_tell,
            test_refusals.test_no_cloud_tells_the_number_of_an_instance,
        ),
    ),
    Sabotage(
        "one number will do for many nodes",
        set_to(drafting, "no_identity", lambda *_, **__: []),
        (test_refusals.test_a_number_that_many_nodes_share_is_refused,),
    ),
    Sabotage(
        "one byte order",
        set_to(identities, "forms_of", lambda identity: frozenset({identity.lower()})),
        (test_drills.test_an_answer_is_judged, test_drills.test_a_uuid_is_the_same_however_it_is_written),
    ),
    Sabotage(
        "a drill has one name for ever",
        set_to(drills, "run_name", lambda method, node, due: f"drill-{method.name}"),
        (test_drills.test_a_drill_only_asks, test_drilling.test_every_device_is_asked_and_the_node_says_so),
    ),
    Sabotage(
        "all drills at once",
        set_to(drilling, "is_in_time", lambda view, due, now: True),
        (test_drilling.test_what_was_due_before_we_looked_is_left_to_the_next_drill,),
    ),
    Sabotage(
        "no spread",
        set_to(drilling, "last_due", lambda uid, period, now: Wall(now.ms - now.ms % period.ms)),
        (test_drilling.test_what_was_due_before_we_looked_is_left_to_the_next_drill,),
    ),
    Sabotage(
        "a fenced node is drilled",
        set_to(documents, "fence_of", lambda key, reader: None),
        (test_drilling.test_nobody_drills_who_was_not_told_to,),
    ),
    Sabotage(
        "a run concerns nobody",
        set_to(drilling, "BY_RUN", "nothing"),
        (test_drilling.test_a_device_that_is_still_being_asked_is_waited_for,),
    ),
    Sabotage(
        "a question that came late is an answer",
        set_to(staleness, "came_late", lambda said: False),
        (test_drilling.test_a_question_that_did_not_begin_tells_nothing_of_the_device,),
    ),
    Sabotage(
        "questions pile up",
        set_to(drilling, "Drill", lambda since, runs=(), is_over=True: Drill(since, runs, is_over=True)),
        (test_drilling.test_a_question_that_waits_is_not_asked_again,),
    ),
    Sabotage(
        "no drill is ever over",
        set_to(drilling, "replace", lambda drill, is_over: drill),
        (test_drilling.test_an_answer_that_is_forgotten_is_not_asked_for_again,),
    ),
)
HOSTS = (
    Sabotage(
        "a host has no troubles",
        set_to(hostdrill, "TROUBLES", ()),
        (
            test_hostdrill.test_a_host_is_judged_by_what_the_api_shows,
            test_drilling.test_a_host_is_judged_by_what_the_api_shows,
        ),
    ),
    Sabotage(
        "a host that is held off for a moment is another machine",
        set_to(Host, "is_held", property(lambda host: False)),
        (test_hostdrill.test_a_host_is_judged_by_what_the_api_shows,),
    ),
    Sabotage(
        "credentials are good once and for ever",
        set_to(objects, "login", lambda bmc, status: Login.ACCEPTED),
        (test_objects.test_what_a_host_says_of_its_credentials,),
    ),
    Sabotage(
        "everybody answers",
        set_to(hostdrill, "by_the_api", lambda seen: "every device was asked and answered"),
        (test_drilling.test_a_host_is_judged_by_what_the_api_shows,),
    ),
)
SABOTAGES = (*HOSTS, *READING, *PLANNING, *FORMS, *DISKS, *DRILLS)
PLACED = (
    Sabotage(
        "agents that are refused are listed like all others",
        set_to(cli_agents, "refused", lambda names, agents_path: {}),
        (test_agents_command.test_what_is_installed_is_listed,),
    ),
    Sabotage(
        "only what is known by name is refused",
        set_to(cli_agents, "lacking", lambda agent: ""),
        (test_agents_command.test_what_is_installed_is_listed,),
    ),
    Sabotage(
        "what one disk says all of them say",
        set_to(disks, "each", lambda order: [dict(order.parameters)["devices"]]),
        (
            test_driven_disks.test_a_key_is_looked_for_before_it_is_taken_away,
            test_driven_disks.test_a_drill_misses_the_key_at_any_disk,
        ),
    ),
    Sabotage(
        "a node needs no key of its own",
        set_to(ownkey, "KEY_FILES", {}),
        (test_ownkey.test_the_key_is_where_the_agent_looks,),
    ),
    Sabotage(
        "nobody is asked on the node itself",
        set_to(AgentDescription, "is_on_target", False),
        (test_asking.test_a_job_asks_on_the_node_itself,),
    ),
    Sabotage(
        "pods are started that nobody asked for",
        set_to(Asking, "obstacle", lambda self, method: ""),
        (test_asking.test_what_is_not_asked_says_why,),
    ),
    Sabotage(
        "no device tells who it is",
        set_to(identity, "ASKED", {}),
        (test_identity.test_a_bmc_tells_its_guid, test_identity.test_a_drill_finds_whose_bmc_it_is),
    ),
    Sabotage(
        "a drill does not ask who it is",
        set_to(verify, "identify", nobody),
        (test_identity.test_a_drill_finds_whose_bmc_it_is,),
    ),
    Sabotage(
        "every BMC speaks lanplus",
        set_to(identity, "LANPLUS", IPMI_AGENTS),
        (test_identity.test_a_bmc_tells_its_guid,),
    ),
    Sabotage(
        "whatever a device says is fine",
        set_to(drills, "judge", lambda *_: Finding()),
        (test_drill.test_a_device_that_fails_is_named, test_drill.test_the_wrong_plug_is_found),
    ),
    Sabotage(
        "every key of a Secret must be there",
        set_to(SecretParameter, "is_optional", False),
        (
            test_drill.test_every_device_of_every_node_is_asked,
            test_program.test_a_key_that_may_be_missing_is_left_out,
        ),
    ),
    Sabotage(
        "whatever the API shows of a host is fine",
        set_to(hostdrill, "judge", lambda method, *_: Finding(method.name)),
        (test_drill.test_a_host_has_a_row_though_nobody_asks_it,),
    ),
    Sabotage(
        "a drill plans without the folder of agents",
        set_to(by_hand, "look_at", lambda kubeconfig, context, now, path, name: look_at(kubeconfig, context, now)),
        (test_drill.test_agents_of_the_named_folder_are_planned_and_asked,),
    ),
    Sabotage(
        "who waits for a lane grows old",
        set_to(Runs, "_stale", by_the_clock),
        (test_runs.test_a_drill_waits_for_its_lane_as_long_as_that_takes,),
    ),
    Sabotage(
        "only nodes with a plan are told of",
        set_to(by_hand, "bare", lambda look: []),
        (test_drill.test_a_node_without_a_plan_is_not_passed_over,),
    ),
    Sabotage(
        "who recovers is kept out, as printed",
        set_to(drafting, "SLIP", ()),
        (
            test_plan.test_the_seeds_document_of_a_cloud_is_read_as_it_is_meant,
            test_check_files.test_the_seeds_document_of_a_cloud_is_noted,
        ),
    ),
    Sabotage(
        "a cloud is asked when it is needed only",
        set_to(Look, "asks_how_to_fence", lambda self, name: None),
        (
            test_drill.test_a_cloud_is_asked_before_it_is_needed,
            test_drill.test_a_cloud_is_planned_for_whoever_asks_by_hand,
        ),
    ),
    Sabotage(
        "who would be fenced is planned when it is",
        set_to(documents, "would_be_fenced", lambda *_: False),
        (test_plan.test_a_node_that_a_document_would_fence_is_planned_before,),
    ),
    Sabotage(
        "a document concerns nobody's plan",
        set_to(plan, "GOVERNED", SETS),
        (test_plan.test_a_node_that_a_document_would_fence_is_planned_before,),
    ),
    Sabotage(
        "a node without a plan is no news",
        set_to(by_hand, "unplanned", lambda look, name: Finding()),
        (test_drill.test_one_node_can_be_asked_alone,),
    ),
    Sabotage(
        "what is off may stay off",
        set_to(plan, "unpaired", lambda found: ()),
        (test_pairing.test_what_is_never_switched_on_again_is_refused,),
    ),
    Sabotage(
        "how a device is talked to makes another one of it",
        set_to(devices, "HOW", re.compile("username")),
        (test_pairing.test_what_is_switched_on_again_is_a_plan,),
    ),
    Sabotage(
        "what is ended must come on",
        set_to(FencePlan, "ends_instance", False),
        (test_pairing.test_an_instance_that_is_ended_need_not_come_on,),
    ),
    Sabotage(
        "of two slips any is the one",
        set_to(pairing, "differing", lambda method, other: []),
        (test_pairing.test_what_is_never_switched_on_again_is_refused,),
    ),
)
