"""The engine: events in, effects and notices out. No I/O, no clock: programs call it with `now`.

    seen/gone/listed …  an object changed          -> which keys does that concern? queue them
    step(now)           -> decide every queued key -> effects to start, notices to publish
    ended(effect, …)    an effect has an outcome   -> its object enters the cache as an event, its key is released

Rule 1: one key, one effect in flight; a key that is held is looked at again when it is released.
Rule 2: no decision before all kinds that rooms watch are complete, and no effect without leadership.
Rule 3: a broken rule of our own costs one key, never the others.
Rule 4: a kind that is only wanted (`wanted`) holds up nobody: until it is listed, its objects are unseen.
Rule 5: nobody decides on half a list: one that is made again changes all at once, when it is complete.
Rule 6: an answer brings nobody back who went while it was under way: no event would take that one away again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from noderemedy.engine.assumed import assumed
from noderemedy.engine.cache import Cache
from noderemedy.engine.ledger import Ledger
from noderemedy.engine.queue import Queue, Timers
from noderemedy.engine.telling import Notice, Telling
from noderemedy.engine.trace import Trace
from noderemedy.engine.wants import Wants
from noderemedy.model import proof
from noderemedy.model.actions import IRREVERSIBLE, PROVEN, READS, Action, Confirm
from noderemedy.model.decision import NOTHING, Decision, Fact
from noderemedy.model.errors import Bug
from noderemedy.model.ids import FACTS, Kind, Ref
from noderemedy.model.keeping import Unkept, unkept_ref
from noderemedy.model.observer import OBSERVER_AT, Observer
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome, Seen, Unknown
from noderemedy.model.reasons import ObjectUnreadable, Reason, RoomBroken
from noderemedy.model.refusal import Refusal, refusal_ref
from noderemedy.model.request import Followed, Wanted, followed_ref
from noderemedy.model.room import Absent, Entry, Present, Room, Stage, Unreadable
from noderemedy.model.serving import Unserved, unserved_ref
from noderemedy.model.term import TERM_AT, Term
from noderemedy.model.time import MINUTE, Mono, Now, Span

CLOCK_STEP_MS = 1_000
CLOCK_JUMP_MS = 30_000  # less is within what timeouts of minutes bear
LOOKS_BESIDE = 50  # while something is to leave, or on its way: each round trip needs several turns of the program
BLIND_FOR = MINUTE * 10  # as long as a repair may hang before it gives its place back
QUARANTINE = "quarantine"  # the room of what cannot be read, as far as people are told
SOONEST = Span(100)  # a room that wants to be asked again at once has forgotten something: it must not stop the others


class Output(Struct, frozen=True):
    """What one step asks of the program."""

    effects: tuple[Effect, ...]
    notices: tuple[Notice, ...]
    has_more: bool = False  # keys are left to look at: step again, soon


class Engine:
    """Keeps the cache, the queue, the timers and the ledger, and calls rooms."""

    def __init__(self, rooms: tuple[Room, ...], *, trace: Trace | None = None, is_dry: bool = False) -> None:
        self.rooms = {room.name: room for room in rooms}
        self.cache = Cache(tuple(dict.fromkeys(index for room in rooms for index in room.indexes)))
        self.queue = Queue({room.name: room.stage for room in rooms})
        self.timers = Timers()
        self.ledger = Ledger()
        self.trace = trace or Trace()
        self.decisions: dict[Key, Decision] = {}
        self._is_dry = is_dry  # decide, and do nothing but live reads
        self._facts: dict[Key, tuple[Ref, ...]] = {}  # what a key states
        self._stated: dict[Ref, Key] = {}  # which key states a fact
        self._lists: dict[Key, dict[Ref, None]] = {}  # what a key had listed live, and nobody watches
        self._decided_at: dict[Key, Mono] = {}  # of the decision whose actions are in flight
        self._telling = Telling()
        self._clock_offset_ms: int | None = None
        self._term: int | None = None  # the token under which we acted last
        self._untold: dict[Ref, None] = {}  # what cannot be read, and nobody knows yet
        self._blind_since: dict[Ref, Mono] = {}  # all that cannot be read
        self._refused: dict[Key, Action] = {}  # what the API will not do for a key
        self._wants = Wants()
        self._takers = [room for room in rooms if room.takes_requests]
        self._watchers: dict[Kind, list[Room]] = {}
        for room in rooms:
            for kind in room.watches:
                self._watchers.setdefault(kind, []).append(room)
                if kind.group == FACTS:
                    self.cache.end_list("", kind)  # nobody lists what we derive
        self._needed = frozenset(("", kind) for kind in self._watchers)
        self._is_begun = self.is_synced  # before, nobody can look, and nobody is woken

    # --- what the programs tell it ------------------------------------------------------------------------------

    def seen(self, seen: Seen, now: Now) -> None:
        """An object was added or changed."""
        if not self.cache.hold_back(seen.ref, seen):
            self._enter(seen, now, None)

    def gone(self, seen: Seen, now: Now) -> None:
        """An object was deleted. If another one has its name by now, that one stays."""
        if self._uid(seen.ref) in ("", seen.uid):
            self._leave(seen.ref, now, None)

    def listing(self, kind: Kind, now: Now, cluster: str = "") -> None:
        """A complete list of this kind begins."""
        self._leave(unserved_ref(kind, cluster), now, None)
        self.cache.begin_list(cluster, kind)

    def listed(self, kind: Kind, now: Now, cluster: str = "") -> None:
        """The list is complete: what it brought is seen, and what it did not name is gone."""
        for ref, found in self.cache.take_held(cluster, kind):
            if isinstance(found, Unreadable):
                self._set_aside(ref, found, now)
            else:
                self._enter(found, now, None)
        for ref in self.cache.end_list(cluster, kind):
            self._leave(ref, now, None)
        for ref in self.ledger.asked_about(kind, cluster):
            if self._is_nowhere(ref):
                self.ledger.misses(ref)
        self.trace.record(now, "listed", kind)
        if not self._is_begun and self.is_synced:
            self._wake_all()
        if self.is_synced and not isinstance(self.cache.read(OBSERVER_AT), Present):
            self._enter(Seen(OBSERVER_AT, "", "", Observer(now.mono)), now, None)

    def forgotten(self, kind: Kind, now: Now, cluster: str) -> None:
        """A cluster is gone: so is all that it had of this kind, and it can be seen no more."""
        self.listing(kind, now, cluster)
        self.listed(kind, now, cluster)
        self.lost(kind, now, cluster)

    def unserved(self, kind: Kind, now: Now, cluster: str = "") -> None:
        """The API knows no such kind: there are no objects of it, and none can be made. Told again and again."""
        if self.cache.is_complete(kind, cluster) and self._object(unserved_ref(kind, cluster)) is not None:
            return
        self.cache.begin_list(cluster, kind)
        self.listed(kind, now, cluster)
        self._enter(Seen(unserved_ref(kind, cluster), "", "", Unserved(kind)), now, None)

    def keeps(self, kind: Kind, found: Unkept | None, now: Now) -> None:
        """What the API would forget of our records in objects of this kind; None: nothing."""
        ref = unkept_ref(kind)
        if found is None:
            self._leave(ref, now, None)
        elif self._object(ref) != found:
            self._enter(Seen(ref, "", "", found), now, None)

    def lost(self, kind: Kind, now: Now, cluster: str = "") -> None:
        """This kind cannot be seen any more: no decisions until it is listed again, and no grant of before it then."""
        was_seen = self.cache.forget_complete(cluster, kind)
        if not cluster and kind in self._watchers:
            self._leave(OBSERVER_AT, now, None)
        if kind in self._watchers and was_seen:
            for key in self._granting():
                self._state(key, self._kept(key, RoomBroken("out of sight")), now)
                self.queue.add(key)
        self.trace.record(now, "lost", kind)

    def followed(self, kind: Kind, now: Now, *, missing: str = "", refused: str = "") -> None:
        """How far a wanted kind is: listed, or why it cannot be seen. Wakes those who wait for it."""
        if (missing or refused) and kind not in self._watchers:
            self.lost(kind, now)
        found, ref = Followed(kind, missing, refused), followed_ref(kind)
        old = self.cache.read(ref)
        self._enter(Seen(ref, "", "", found), now, None)
        if found.is_seen and not (isinstance(old, Present) and old.obj == found):
            for one in self.cache.refs_of(kind):  # whoever looked before the list was complete has to look again
                self._wake(one, self._object(one))

    def unfollowed(self, kind: Kind, now: Now) -> None:
        """Nobody wants this kind any more, and nobody follows it: forget what was seen of it."""
        self._leave(followed_ref(kind), now, None)
        if kind in self._watchers:
            return  # a room watches it, whoever wants it
        self.lost(kind, now)
        for ref in self.cache.refs_of(kind):
            self._leave(ref, now, None)

    def unreadable(self, ref: Ref, uid: str, resource_version: str, problem: str, now: Now) -> None:
        """An object does not decode: set it aside, say so on it once, and go on with the others."""
        found = Unreadable(uid, resource_version, problem)
        if not self.cache.hold_back(ref, found):
            self._set_aside(ref, found, now)

    def ended(self, effect: Effect, outcome: Outcome, now: Now) -> Effect | None:
        """An effect has an outcome. Returns the next effect of the same decision, if there is one."""
        is_overtaken = isinstance(outcome, Done) and self._is_overtaken(outcome)
        rest = self.ledger.end(effect)
        self.trace.record(now, "ended", effect.key, f"{type(effect.action).__name__} {type(outcome).__name__}")
        if isinstance(outcome, Done):
            if not is_overtaken:
                self._observe(effect, outcome, now)
            self.ledger.went_well(effect, now)
            if is_same_act(self._refused.get(effect.key), effect.action):
                self._no_refusal(effect.key, now)
            if not isinstance(effect.action, READS):
                self._telling.no_complaint(effect.key)
            rest = self._unread(rest, outcome.begun)
            if rest and not (isinstance(rest[0], PROVEN) and self._is_long_ago(effect.key, now)):
                return self._begin(effect.key, rest, now, effect.token)
        else:
            self._in_trouble(effect, outcome, now)
        self._decided_at.pop(effect.key, None)
        self.queue.add(effect.key)
        return None

    # --- what it asks of them -----------------------------------------------------------------------------------

    @property
    def is_synced(self) -> bool:
        return self.cache.are_complete(self._needed)

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """What programs have to follow now besides what rooms watch. A kind may be both: it is watched once."""
        return self._wants.all()

    @property
    def standing(self) -> Mapping[tuple[str, str], int]:
        """How many keys hold each reason that calls a person, by room and name. Of the last time that we led."""
        return self._telling.standing

    @property
    def quarantined(self) -> int:
        return self.cache.count_kinds()[1].total()

    def step(self, now: Now, token: int | None, looks: int | None = None) -> Output:
        """Look at every key that is due. `token` is the leader's; None: stand by, and keep what is queued.

        After so many `looks` the rest is left for the next step: whoever steps has other things to do in between. Where
        there is such a limit, what is to be done leaves soon after it was found.
        """
        effects: list[Effect] = []
        self._mind_the_clock(now)
        if token is not None and token != self._term:
            self._begin_term(token, now)
        for key in self.timers.due(now.mono):
            self.queue.add(key)
        may_decide = token is not None and self.is_synced  # once: only what programs tell us changes it, not a look
        while self.queue and may_decide and token is not None and looks != 0:
            effect = self._look(self.queue.pop(), now, token)
            looks = looks - 1 if looks is not None else None
            if effect is not None:
                effects.append(effect)
                looks = min(looks, LOOKS_BESIDE) if looks is not None else None
        has_more = bool(self.queue) and may_decide
        return Output(tuple(effects), self._told() if token is not None else (), has_more)

    def _told(self) -> tuple[Notice, ...]:
        """All that is new. A standby keeps it: two who speak would say everything twice."""
        untold = [(ref, self.cache.read(ref)) for ref in self._untold]
        unreadable = [
            self._telling.notice(Key(QUARANTINE, ref), entry.uid, ObjectUnreadable(entry.problem), entry.uid)
            for ref, entry in untold
            if isinstance(entry, Unreadable)  # and not mended or gone meanwhile
        ]
        self._untold = {}
        return (*unreadable, *self._telling.take())

    def next_wake(self) -> Mono | None:
        return self.timers.next()

    # --- inside -------------------------------------------------------------------------------------------------

    def _begin_term(self, token: int, now: Now) -> None:
        """What we granted when we led before is nobody's licence now: somebody else has led meanwhile."""
        self._term = token
        self._telling.begin_term()
        self._enter(Seen(TERM_AT, "", "", Term(token, now.mono)), now, None)
        for key in self._granting():
            self._state(key, (), now)
            self.queue.add(key)

    def _granting(self) -> list[Key]:
        """Those who grant. They look last of all, when all needs are known; until then nobody acts on an old grant."""
        return [key for key in self._facts if self._is_granting(key)]

    def _is_granting(self, key: Key) -> bool:
        return self.rooms[key.room].stage is Stage.GRANT

    def _mind_the_clock(self, now: Now) -> None:
        """Wakes were planned on the monotonic clock for wall times: after a step of the wall clock, look again."""
        offset = now.wall.ms - now.mono.ms
        step = offset - self._clock_offset_ms if self._clock_offset_ms is not None else 0
        if abs(step) > CLOCK_STEP_MS:
            for key in self.timers.planned_keys():
                self.queue.add(key)
            self.trace.record(now, "clock stepped", step)
            self._clock_offset_ms = offset
        elif self._clock_offset_ms is None:
            self._clock_offset_ms = offset
        if step > CLOCK_JUMP_MS:
            self._watch_anew(now)

    def _watch_anew(self, now: Now) -> None:
        """By a clock that was set ahead everybody has been silent for long: only what we see from now on counts."""
        if isinstance(self.cache.read(OBSERVER_AT), Present):
            self._enter(Seen(OBSERVER_AT, "", "", Observer(now.mono)), now, None)

    def _look(self, key: Key, now: Now, token: int) -> Effect | None:
        if self.ledger.holds(key):
            self._grant_meanwhile(key, now)
            return None  # `ended` queues it again
        if later := self.ledger.waits_until(key, now):
            self.timers.wake(key, min(later, self._grant_meanwhile(key, now) or later))
            return None
        if doubt := self.ledger.doubt(key):
            self._grant_meanwhile(key, now)
            return self._begin(key, (doubt,), now, token)
        decision = self._decide(key, now)
        self._state(key, decision.facts, now)
        if not decision.actions:
            self.ledger.forget_trouble(key)
            self._telling.no_complaint(key)
            self._no_refusal(key, now)
        self._remember(key, decision, now)
        self.timers.cancel(key)
        if decision.wake_at is not None:
            self.timers.wake(key, max(decision.wake_at, now.mono + SOONEST))
        actions = decision.actions
        if self._is_dry:
            self._assume(actions, now)
            actions = tuple(action for action in actions if isinstance(action, READS))
        if not actions:
            return None
        self._decided_at[key] = now.mono
        return self._begin(key, actions, now, token)

    def _grant_meanwhile(self, key: Key, now: Now) -> Mono | None:
        """What is granted is of now, also while the write of whoever grants is under way, or failed and waits.

        Returns when that changes by itself.
        """
        if not self._is_granting(key):
            return None
        decision = self._decide(key, now)
        self._state(key, decision.facts, now)
        return decision.wake_at

    def _is_long_ago(self, key: Key, now: Now) -> bool:
        """Whether a decision is too old for what its proof allowed (rule 3 of the architecture): it is made anew."""
        return now.mono.since(self._decided_at[key]) > proof.LASTS

    def _assume(self, actions: tuple[Action, ...], now: Now) -> None:
        """Who only looks takes our own bookkeeping for done: what is behind it is of interest."""
        for action in actions:
            if (seen := assumed(action)) is not None:
                self._enter(seen, now, now.mono)

    def _unread(self, rest: tuple[Action, ...], since: Mono) -> tuple[Action, ...]:
        """The rest of a decision without the live reads that somebody else has made meanwhile."""
        while rest and isinstance(rest[0], Confirm):
            entry = self.cache.read(rest[0].ref)
            read_at = entry.confirmed_at if isinstance(entry, Present | Absent) else None
            if read_at is None or read_at < since:
                break
            rest = rest[1:]
        return rest

    def _begin(self, key: Key, actions: tuple[Action, ...], now: Now, token: int) -> Effect:
        effect = self.ledger.begin(key, actions, token, self._decided_at.get(key))
        self.trace.record(now, "begin", key, type(effect.action).__name__)
        return effect

    def _decide(self, key: Key, now: Now) -> Decision:
        room = self.rooms[key.room]
        try:
            view = room.sees(key.ref, self.cache)
            if view is None:
                return self._blind(key, now)
            decision = room.decide(view, now)
            self._demand(key, room, decision)
        except Exception as broken:  # noqa: BLE001  the outermost place that knows the key: the others go on
            problem = str(broken) if isinstance(broken, AssertionError | Bug) and str(broken) else repr(broken)
            self.trace.record(now, "broken", key, problem)
            why = RoomBroken(problem)
            return Decision(because=(why,), facts=self._kept(key, why))
        return decision

    def _blind(self, key: Key, now: Now) -> Decision:
        """Nothing is known of it. What was stated of an object that cannot be read any more stands: it ends nothing.

        What it takes from others (a place in the budget) it keeps for a while: nobody may ever mend it.
        """
        entry = self.cache.read(key.ref)
        if isinstance(entry, Unreadable):
            self._telling.lose_sight(key)
        if not isinstance(entry, Unreadable) or key not in self._facts:
            return NOTHING
        until = self._blind_since.get(key.ref, now.mono) + BLIND_FOR
        kept = self._kept(key, ObjectUnreadable(entry.problem))
        if now.mono < until:
            return Decision(facts=kept, wake_at=until)
        return Decision(facts=tuple(Fact(one.ref, one.value.if_blind_for_long()) for one in kept))

    def _kept(self, key: Key, why: Reason) -> tuple[Fact, ...]:
        """What a key stated last whose room broke, or is blind: a repair that runs is still one, and counts."""
        found = [(ref, self._object(ref).if_broken(why)) for ref in self._facts.get(key, ())]
        return tuple(Fact(ref, value) for ref, value in found if value is not None)

    def _demand(self, key: Key, room: Room, decision: Decision) -> None:
        """What every decision must keep to."""
        for fact in decision.facts:
            if self._stated.get(fact.ref, key) != key:
                raise Bug("a fact that another key states")
        if not decision.actions:
            return
        asked = {type(action) for action in decision.actions}
        if not asked <= room.may:
            names = sorted(kind.__name__ for kind in asked - room.may)
            raise Bug(f"room {room.name} may not ask for {', '.join(names)}")
        if not decision.because:
            raise Bug("an action without a reason")
        if sum(isinstance(action, IRREVERSIBLE) for action in decision.actions) > 1:
            raise Bug("more than one irreversible action in one decision")

    def _state(self, key: Key, facts: tuple[Fact, ...], now: Now) -> None:
        """Facts enter and leave the cache like objects; those who watch their kind are woken by a change."""
        before = self._facts.get(key, ())
        for fact in facts:
            self._stated[fact.ref] = key
            if self._object(fact.ref) != fact.value:  # most say what they said before
                self._enter(Seen(fact.ref, "", "", fact.value), now, None)
        stated = tuple(fact.ref for fact in facts)
        kept = set(stated)
        for ref in before:
            if ref not in kept:
                del self._stated[ref]
                self._leave(ref, now, None)
        if stated:
            self._facts[key] = stated
        elif before:
            del self._facts[key]

    def _remember(self, key: Key, decision: Decision, now: Now) -> None:
        """Keep the decision for whoever asks, and tell people what is new about it."""
        if not decision.actions and not decision.because and decision.wake_at is None:
            self.decisions.pop(key, None)
            self._telling.forget(key)
            for ref in self._lists.pop(key, ()):
                self._leave(ref, now, None)
            return
        self.decisions[key] = decision
        self.trace.record(now, "decided", key, " ".join(type(reason).__name__ for reason in decision.because))
        self._telling.decided(key, self._uid(key.ref), decision.because, decision.episode)

    def _object(self, ref: Ref) -> Any:
        entry = self.cache.read(ref)
        return entry.obj if isinstance(entry, Present) else None

    def _uid(self, ref: Ref) -> str:
        entry = self.cache.read(ref)
        if isinstance(entry, Unreadable):
            return entry.uid
        return str(entry.obj.uid) if isinstance(entry, Present) else ""

    def _observe(self, effect: Effect, done: Done, now: Now) -> None:
        """What an answer showed is an event like any other, and a live read on top."""
        if done.seen is not None:
            if done.seen.ref.kind.group == FACTS:
                self._lists.setdefault(effect.key, {})[done.seen.ref] = None
            self._enter(done.seen, now, done.begun)
        elif done.gone and not self._has_come_since(effect.action.ref, done.begun):
            self._leave(effect.action.ref, now, done.begun)

    def _is_overtaken(self, done: Done) -> bool:
        """Whether an answer shows what is gone by now, as far as anybody can tell.

        No event would ever take it away again. A uid never comes back; what a list did not name came before it and
        went, or came after it: of that the watch will tell.
        """
        seen = done.seen
        if seen is None:
            return False
        if self.ledger.has_missed(seen.ref, seen.uid):
            return True
        return self.ledger.has_missed(seen.ref) and self._is_nowhere(seen.ref)

    def _is_nowhere(self, ref: Ref) -> bool:
        return not isinstance(self.cache.read(ref), Present | Unreadable)

    def _has_come_since(self, ref: Ref, begun: Mono) -> bool:
        """Whether another object of that name was first seen after a request began: an absence is not about that."""
        entry = self.cache.read(ref)
        return isinstance(entry, Present) and entry.first_seen > begun

    def _in_trouble(self, effect: Effect, outcome: Failed | Unknown, now: Now) -> None:
        """Wait before the next try, and tell people if it will not go away by itself."""
        trouble = self.ledger.went_wrong(effect, outcome, now)
        if isinstance(outcome, Failed) and outcome.lasting:
            self._refused[effect.key] = effect.action
            refused = Refusal(type(effect.action).__name__, effect.action.ref, outcome.why)
            self._enter(Seen(refusal_ref(effect.key.room, effect.key.ref), "", "", refused), now, None)
        episode = self.decisions.get(effect.key, NOTHING).episode
        self._telling.complain(effect, outcome, trouble.times, self._uid(effect.key.ref), episode)

    def _no_refusal(self, key: Key, now: Now) -> None:
        if self._refused.pop(key, None) is not None:
            self._leave(refusal_ref(key.room, key.ref), now, None)

    def _enter(self, seen: Seen, now: Now, confirmed_at: Mono | None) -> None:
        before = self.cache.read(seen.ref) if self.cache.is_set_aside(seen.ref) else None
        old, is_changed = self.cache.put(seen, now.mono, confirmed_at=confirmed_at)
        if not is_changed:
            return
        self.trace.record(now, "seen", seen.ref, seen.resource_version)
        self._blind_since.pop(seen.ref, None)
        if isinstance(seen.obj, Wanted):
            self._wants.stated(seen.ref, seen.obj)
        if old is not None or before is not None:
            self._wake(seen.ref, old)
        if before is not None:
            self._wake_as_it_was(seen.ref, before)
        if isinstance(before, Unreadable):
            self._telling.ended(Key(QUARANTINE, seen.ref), ObjectUnreadable(before.problem))
        self._wake(seen.ref, seen.obj)

    def _set_aside(self, ref: Ref, found: Unreadable, now: Now) -> None:
        old = self.cache.read(ref)
        if not self.cache.set_aside(ref, found):
            return
        self._blind_since.setdefault(ref, now.mono)
        if isinstance(old, Present):
            self._wake(ref, old.obj)
        if isinstance(old, Unreadable):  # and is so in another way now
            self._telling.ended(Key(QUARANTINE, ref), ObjectUnreadable(old.problem))
        self._wake(ref, None)
        self._untold[ref] = None
        self.trace.record(now, "unreadable", ref, found.problem)

    def _leave(self, ref: Ref, now: Now, confirmed_at: Mono | None) -> None:
        entry = self.cache.read(ref)
        if isinstance(entry, Present | Unreadable):
            self._wake(ref, entry.obj if isinstance(entry, Present) else None)  # while the indexes still know it
            self._wake_as_it_was(ref, entry)
            self.trace.record(now, "gone", ref)
            if ref.kind.group != FACTS:
                self.ledger.misses(ref, self._uid(ref))
        if isinstance(entry, Present) and isinstance(entry.obj, Wanted):
            self._wants.withdrawn(ref, entry.obj)
        self.cache.drop(ref, confirmed_at=confirmed_at)
        self._blind_since.pop(ref, None)
        if isinstance(entry, Present) and ref.kind.group == FACTS:
            self._wake(ref, entry.obj)  # and now, for who judges by what is stated

    def _wake_all(self) -> None:
        """The first time that all is known: whoever is concerned by what is there looks. One question for each object
        then, with all indexes at hand, and none about what would only wake keys that wake themselves.
        """
        self._is_begun = True
        asked = {kind: [room for room in rooms if kind not in room.secondary] for kind, rooms in self._watchers.items()}
        for ref, entry in self.cache.entries():
            obj = entry.obj if isinstance(entry, Present) else None
            for room in asked.get(ref.kind, ()):
                for concerned in room.wakes(ref, obj, self.cache):
                    self.queue.add(Key(room.name, concerned))

    def _wake_as_it_was(self, ref: Ref, entry: Entry) -> None:
        """Whom an object concerned when it could be read last, and maybe concerns no more."""
        if isinstance(entry, Unreadable) and entry.last is not None:
            self._wake(ref, entry.last)

    def _wake(self, ref: Ref, obj: Any) -> None:
        if not self._is_begun:
            return
        watchers = self._watchers.get(ref.kind, ())
        if ref.kind in self._wants:
            watchers = [*watchers, *(room for room in self._takers if room not in watchers)]
        for room in watchers:
            for concerned in room.wakes(ref, obj, self.cache):
                self.queue.add(Key(room.name, concerned))


def is_same_act(one: Action | None, other: Action) -> bool:
    """Whether both do the same to the same object, whatever the details."""
    return one is not None and (type(one), one.ref) == (type(other), other.ref)
