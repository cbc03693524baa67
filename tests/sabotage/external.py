"""One line of harm each for requests made from templates: their life, their reading and rendering, and wanted kinds."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import DOCTOR
from tests.core.external import test_kinds, test_lifecycle
from tests.core.healthcheck import test_left
from tests.engine import test_ledger, test_wanted
from tests.sabotage.running import Harm, Sabotage, set_to
from tests.wire import test_externals, test_requests

from noderemedy.core.external import instantiate, lifecycle
from noderemedy.core.healthcheck import remediationview
from noderemedy.engine import cache, ledger, loop, wants
from noderemedy.model.actions import Guard
from noderemedy.model.decision import NOTHING
from noderemedy.model.outcome import Seen
from noderemedy.model.request import Followed, followed_ref, want
from noderemedy.model.time import Span
from noderemedy.wire import answers, externals, names

SICK, HEALTHY = (
    test_lifecycle.test_what_is_done_about_a_sick_machine,
    test_lifecycle.test_what_is_done_about_a_healthy_machine,
)
TOLD, ONLY = test_lifecycle.test_what_a_condition_tells, test_lifecycle.test_a_request_is_made_only_where_none_can_be
READ = test_externals.test_of_a_request_only_the_metadata_is_read
GATES, CREATE, ENTER = lifecycle.GATES, instantiate.instantiate, loop.Engine._enter


def without(gate: Any) -> Harm:
    """The gates of a request, one of them left open."""
    return set_to(lifecycle, "GATES", tuple(one for one in GATES if one is not gate))


LIVES = (
    Sabotage("somebody else's request will do", set_to(lifecycle, "is_ours", lambda request, machine: True), (SICK,)),
    Sabotage("a missing kind is not noticed", without(lifecycle.kind_is_served), (SICK, TOLD)),
    Sabotage(
        "requests are made in the dark",
        without(lifecycle.requests_can_be_seen),
        (SICK, ONLY),
    ),
    Sabotage("a taken name is free", without(lifecycle.name_is_free), (SICK,)),
    Sabotage("templates are never old", set_to(lifecycle, "is_confirmed", lambda entry, now: True), (SICK, ONLY)),
    Sabotage("a missing template is asked for without a pause", set_to(lifecycle, "LOOK_AGAIN", Span(0)), (SICK,)),
    Sabotage("a template never fails", set_to(lifecycle, "flaw", lambda at, entry: None), (TOLD,)),
    Sabotage(
        "a condition flickers with every look",
        set_to(lifecycle, "missing_template", lambda wish: None),
        (TOLD,),
    ),
    Sabotage(
        "a healthy machine keeps its request", set_to(test_lifecycle, "recover", lambda view: NOTHING), (HEALTHY,)
    ),
    Sabotage(
        "the deletion names no uid",
        set_to(lifecycle, "Guard", lambda uid: Guard("")),
        (HEALTHY,),
    ),
    Sabotage(
        "only the present template's request is seen",
        set_to(lifecycle, "standing", lambda at, machine, reader: []),
        (
            test_lifecycle.test_a_machine_sees_all_its_requests,
            test_lifecycle.test_without_a_template_there_is_no_wish,
        ),
    ),
    Sabotage(
        "a kind is forgotten with its template",
        set_to(test_lifecycle, "wants", lambda at, requests: ()),
        (test_lifecycle.test_a_kind_is_wanted_while_a_request_of_it_stands,),
    ),
    Sabotage(
        "nobody is told of a request that is left",
        set_to(lifecycle, "left", lambda at, machine, reader: ()),
        (test_left.test_a_request_that_is_left_is_told,),
    ),
    Sabotage(
        "only kinds that checks name are looked at",
        set_to(lifecycle, "ALWAYS_WATCHED", ()),
        (
            test_left.test_what_is_left_is_over_when_it_goes,
            test_lifecycle.test_a_request_of_ours_is_seen_although_no_check_names_its_kind,
        ),
    ),
    Sabotage(
        "what a person made is a check's",
        set_to(lifecycle, "made", lifecycle.requests_of),
        (
            test_left.test_a_request_that_is_left_is_told,
            test_lifecycle.test_a_request_of_ours_is_seen_although_no_check_names_its_kind,
        ),
    ),
    Sabotage(
        "a request that is left is not followed to its end",
        set_to(lifecycle, "wants", lambda at, requests: ()),
        (test_left.test_what_is_left_is_over_when_it_goes,),
    ),
    Sabotage(
        "what moves to another cluster is called left",
        set_to(remediationview, "is_quiet", lambda key, machine, reader: False),
        (test_left.test_a_request_that_is_left_is_told,),
    ),
    Sabotage(
        "who tells of a request takes marks away",
        set_to(remediationview, "is_left", lambda key, machine, reader: True),
        (test_left.test_a_mark_of_a_check_that_cannot_be_understood_stays_beside_it,),
    ),
    Sabotage(
        "the owner has no uid",
        set_to(lifecycle, "instantiate", lambda *words: replace(CREATE(*words), owner_uid="")),
        (SICK,),
    ),
    Sabotage(
        "the cluster's name is left out",
        set_to(lifecycle, "instantiate", lambda *words: replace(CREATE(*words), cluster_name="")),
        (SICK,),
    ),
    Sabotage(
        "every check wants something",
        set_to(test_kinds, "wanted", lambda at, check: (want(at, DOCTOR, ""),)),
        (test_kinds.test_other_checks_want_nothing,),
    ),
)


WIRE = (
    Sabotage(
        "a template's frame goes into the request",
        set_to(externals, "OUTER", ()),
        (test_externals.test_what_makes_an_object_this_very_object_is_not_read,),
    ),
    Sabotage(
        "labels of a template are lost",
        set_to(externals, "words", lambda meta, name: ()),
        (
            test_externals.test_the_words_of_a_template_stay_as_they_are,
            test_externals.test_garbage_in_a_template_is_told,
        ),
    ),
    Sabotage(
        "the cluster's label has another name",
        set_to(names, "CLUSTER_NAME", "x"),
        (test_requests.test_each_action_has_one_request,),
    ),
    Sabotage("where a request comes from is not read", set_to(names, "CLONED_FROM", "x"), (READ,)),
    Sabotage(
        "a deletion is never over",
        set_to(answers, "DELETIONS", ()),
        (test_externals.test_a_deleted_request_is_gone_or_leaving,),
    ),
)
ENGINE = (
    Sabotage(
        "wants are not noticed",
        set_to(wants.Wants, "stated", lambda self, ref, wanted: None),
        (test_wanted.test_a_kind_is_wanted_while_some_key_says_so,),
    ),
    Sabotage(
        "wants are never withdrawn",
        set_to(wants.Wants, "withdrawn", lambda self, ref, wanted: None),
        (test_wanted.test_a_kind_is_wanted_while_some_key_says_so,),
    ),
    Sabotage(
        "the first version counts, named or not",
        set_to(wants.Wants, "all", lambda self: tuple(found[min(found)] for found in self._by_kind.values())),
        (test_wanted.test_a_version_that_somebody_names_counts_more_than_none,),
    ),
    Sabotage(
        "a list of requests wakes nobody",
        set_to(loop.Engine, "followed", lambda self, kind, now, **trouble: None),
        (
            test_wanted.test_what_is_not_listed_is_unseen,
            test_wanted.test_a_kind_that_cannot_be_seen_says_why,
        ),
    ),
    Sabotage(
        "a kind that cannot be seen stays complete",
        set_to(
            loop.Engine,
            "followed",
            lambda self, kind, now, **trouble: ENTER(
                self, Seen(followed_ref(kind), "", "", Followed(kind, **trouble)), now, None
            ),
        ),
        (test_wanted.test_a_kind_that_cannot_be_seen_says_why,),
    ),
    Sabotage(
        "what was seen before the list was complete is not looked at again",
        set_to(
            loop.Engine,
            "followed",
            lambda self, kind, now, **trouble: ENTER(
                self, Seen(followed_ref(kind), "", "", Followed(kind, **trouble)), now, None
            ),
        ),
        (test_wanted.test_what_was_seen_before_the_list_was_complete_is_looked_at_again,),
    ),
    Sabotage(
        "objects of a forgotten kind stay",
        set_to(cache.Cache, "refs_of", lambda self, kind: []),
        (test_wanted.test_a_kind_that_nobody_follows_is_forgotten,),
    ),
    Sabotage(
        "every act ends a refusal",
        set_to(loop, "is_same_act", lambda one, other: True),
        (test_wanted.test_a_refusal_goes_when_the_act_succeeds,),
    ),
    Sabotage(
        "no act ends a refusal",
        set_to(loop, "is_same_act", lambda one, other: False),
        (test_wanted.test_a_refusal_goes_when_the_act_succeeds,),
    ),
    Sabotage(
        "refusals stay for ever",
        set_to(loop.Engine, "_no_refusal", lambda self, key, now: None),
        (
            test_wanted.test_a_refusal_goes_when_the_act_succeeds,
            test_wanted.test_a_refusal_goes_when_nothing_is_wanted,
        ),
    ),
)
WENT_WRONG = ledger.Ledger.went_wrong


def counting_on(self: Any, effect: Any, outcome: Any, now: Any) -> Any:
    """A failure that does not end the count of what was done before it."""
    before = self._repeats.get(effect.key)
    trouble = WENT_WRONG(self, effect, outcome, now)
    if before is not None:
        self._repeats[effect.key] = before
    return trouble


BRAKE = (
    Sabotage(
        "reads before a refused act are slowed down",
        set_to(ledger.Ledger, "went_wrong", counting_on),
        (test_ledger.test_a_read_before_a_failing_act_is_not_in_vain,),
    ),
)
EXTERNAL = (*BRAKE, *LIVES, *WIRE, *ENGINE)
