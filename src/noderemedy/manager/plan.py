"""One look at a cluster that changes nothing: what would be done next, why, and when to look again. Pure.

Called by `node-remedy plan`, on files (`on_trees`) and on a live cluster (`liveplan.py`). It is the manager's own
engine, dry. Both clocks stand at `now`, and everything counts as watched since long ago: a plan is one look of an
observer that has been there all the time. What waits for a live read is read, so no Confirm is left in a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from noderemedy.core.healthcheck.facts import CHECKS
from noderemedy.core.incident import diary, nodediary, podlists, records, shelf
from noderemedy.engine.loop import Engine
from noderemedy.manager import plain
from noderemedy.manager.describing import described
from noderemedy.manager.plankinds import defined, remark, undefined
from noderemedy.manager.planrecords import awaited
from noderemedy.manager.sources import Source
from noderemedy.model.actions import READS, Action, DescribeAgent, ListPods, ListVolumes
from noderemedy.model.agent import AgentDescription
from noderemedy.model.fenceplan import PlanAsked, asked_ref
from noderemedy.model.healthcheck import HealthCheck
from noderemedy.model.ids import CLUSTER, NODE, SYSTEM, Kind, Ref
from noderemedy.model.keeping import Unkept
from noderemedy.model.outcome import Done, Effect, Failed, Key, Outcome, Seen
from noderemedy.model.reasons import ActionFailed, ActionRefused, ObjectUnreadable, Reason
from noderemedy.model.remote import Remote, remote_ref
from noderemedy.model.request import Wanted
from noderemedy.model.room import Present, Room, Unreadable
from noderemedy.model.time import Mono, Now, Wall
from noderemedy.model.workload import PodsOfNode, VolumesOfNode, pods_at, volumes_at
from noderemedy.rooms import ROOMS, watched
from noderemedy.wire import configuration
from noderemedy.wire.objects import Undecodable, convert

CONFIGURATION = Kind("node-remedy", configuration.KIND)
BARE = (
    f"a Configuration is no object by itself: make it the text of {configuration.KEY} in a ConfigMap, with "
    f"kubectl -n {SYSTEM} create configmap NAME --from-file={configuration.KEY}=FILE"
)
LONG_AGO = Now(Wall(0), Mono(0))
QUARANTINE = "quarantine"
RECORDING = (diary.ROOM, nodediary.ROOM, podlists.ROOM, records.ROOM, shelf.ROOM)
KEEPING_RECORDS = frozenset(room.name for room in RECORDING)
COMPLAINTS = (ActionFailed, ActionRefused)  # of the live reads: the reasons of a decision do not say these


Ask = Callable[[str], AgentDescription | None]


def nobody_is_asked(agent: str) -> AgentDescription | None:
    """In a world of files no agent is installed, unless whoever plans brings some."""
    return None


class Entry(Struct, frozen=True):
    """What one room would do about one object."""

    room: str
    key: str
    actions: tuple[Action, ...] = ()
    because: tuple[Reason, ...] = ()
    wake_at: Wall | None = None
    dialect: str = ""  # of a check: by whose rules it is read

    def plain(self) -> dict[str, Any]:
        return {
            "room": self.room,
            "key": self.key,
            "actions": [plain.action(action) for action in self.actions],
            "because": [plain.reason(reason) for reason in self.because],
            "wakeAt": str(self.wake_at) if self.wake_at else None,
            **({"dialect": self.dialect} if self.dialect else {}),
        }


class Plan(Struct, frozen=True):
    """All entries, by room and key; how many objects were looked at; remarks for whoever wrote the files."""

    entries: tuple[Entry, ...]
    objects: int
    remarks: tuple[str, ...] = ()
    records: int = 0  # Incidents that would be opened or brought up to date
    checks: tuple[tuple[str, str], ...] = ()  # every check and its dialect, also where nothing is to be said


def is_told(entry: Entry) -> bool:
    """Whether a person wants to read it. When a record is written next is nobody's business."""
    if entry.room in KEEPING_RECORDS:
        return bool(entry.actions)
    return bool(entry.actions or entry.because or entry.wake_at)


class Look:
    """One look. Tell it every object, answer every read it asks for, then take the entries."""

    def __init__(self, now: Wall, rooms: tuple[Room, ...] = ROOMS, describe: Ask = nobody_is_asked) -> None:
        self._describe = describe
        self.now = Now(now, Mono(now.ms))  # so that a wake in Mono is the same number on the wall
        self.engine = Engine(rooms, is_dry=True)
        self._unreadable: list[Entry] = []
        self._complaints: dict[Key, Reason] = {}
        self._written: dict[Key, Entry] = {}  # records that were taken as written
        self.objects = 0
        self._followed: set[Kind] = set()

    def seen(self, seen: Seen) -> None:
        self.objects += 1
        self.engine.seen(seen, LONG_AGO)

    def asks_how_to_fence(self, name: str) -> None:
        """A person wants to know of this node, also if nothing else has it planned yet."""
        self.engine.seen(Seen(asked_ref(Ref("", NODE, "", name)), "", "", PlanAsked()), LONG_AGO)

    def unreadable(self, problem: Undecodable) -> None:
        """Set an object aside; the others go on."""
        self.objects += 1
        self.engine.unreadable(problem.ref, problem.uid, problem.resource_version, problem.problem, LONG_AGO)
        self._unreadable.append(Entry(QUARANTINE, str(problem.ref), because=(ObjectUnreadable(problem.problem),)))

    def complete(self, kind: Kind, cluster: str = "") -> None:
        """All objects of this kind were told."""
        self.engine.listed(kind, LONG_AGO, cluster)

    def remote(self, cluster: Ref, found: Remote) -> None:
        """What is known of a Cluster; on files nobody says anything, and all is one cluster."""
        self.engine.seen(Seen(remote_ref(cluster.namespace, cluster.name), "", "", found), LONG_AGO)

    def wanted(self) -> tuple[Wanted, ...]:
        """Kinds known only from templates that somebody wants to see, and that nobody told of yet."""
        return tuple(one for one in self.engine.wanted if one.kind not in self._followed)

    def follow(self, kind: Kind, *, missing: str = "", refused: str = "") -> None:
        """All objects of such a kind were told, or cannot be."""
        self._followed.add(kind)
        self.engine.followed(kind, self.now, missing=missing, refused=refused)

    def unserved(self, kind: Kind) -> None:
        """There is no such kind in this world."""
        self.engine.unserved(kind, LONG_AGO)

    def keeps(self, kind: Kind, found: Unkept | None) -> None:
        """What its API would forget of our records in objects of this kind."""
        self.engine.keeps(kind, found, LONG_AGO)

    def reads(self) -> tuple[Effect, ...]:
        """The live reads that the rooms ask for now; none: the look is over."""
        effects = self._step()
        while not effects and (found := [one for one in awaited(self.engine) if one[0] not in self._written]):
            for key, record in found:
                self._written[key] = self._entry(key)
                self.engine.seen(record, self.now)
            effects = self._step()
        return effects

    def _step(self) -> tuple[Effect, ...]:
        output = self.engine.step(self.now, token=0)
        for notice in output.notices:
            if isinstance(notice.reason, COMPLAINTS):
                self._complaints[Key(notice.room, notice.ref)] = notice.reason
        return output.effects

    def answer(self, read: Effect, outcome: Outcome) -> Effect | None:
        """How a read ended; returns the next one of the same decision."""
        return self.engine.ended(read, outcome, self.now)

    def remembered(self, read: Effect) -> Outcome:
        """The answer of a world that is what we were told of it."""
        ref = read.action.ref
        if isinstance(read.action, ListPods):
            return Done(self.now.mono, Seen(pods_at(ref), "", "", PodsOfNode()))
        if isinstance(read.action, ListVolumes):
            return Done(self.now.mono, Seen(volumes_at(ref), "", "", VolumesOfNode()))
        if isinstance(read.action, DescribeAgent):
            return described(ref, self.now.mono, self._describe(ref.name))
        entry = self.engine.cache.read(ref)
        if isinstance(entry, Unreadable):
            return Failed(f"{ref}: {entry.problem}", lasting=True)
        if isinstance(entry, Present):
            return Done(self.now.mono, Seen(ref, entry.obj.uid, entry.resource_version, entry.obj))
        return Done(self.now.mono, gone=True)

    def plan(self, remarks: Iterable[str] = ()) -> Plan:
        decided = ({key: self._entry(key) for key in self.engine.decisions} | self._written).values()
        kept = [entry for entry in decided if entry.room in KEEPING_RECORDS]
        entries = [entry for entry in decided if is_told(entry)]
        entries += self._unreadable
        entries.sort(key=lambda entry: (entry.room, entry.key))
        return Plan(
            entries=tuple(entries),
            objects=self.objects,
            remarks=tuple(remarks),
            records=sum(entry.room == records.ROOM.name for entry in kept),
            checks=tuple(
                (str(ref), self.dialect(ref)) for ref in sorted(self.engine.cache.refs()) if ref.kind in CHECKS
            ),
        )

    def dialect(self, ref: Ref) -> str:
        """By whose rules this check is read; "" for anything else."""
        entry = self.engine.cache.read(ref)
        found = entry.obj if isinstance(entry, Present) else None
        return found.dialect.value if isinstance(found, HealthCheck) else ""

    def _entry(self, key: Key) -> Entry:
        decision = self.engine.decisions[key]
        wake = self.engine.timers.planned(key)
        complaint = self._complaints.get(key)
        return Entry(
            room=key.room,
            key=str(key.ref),
            actions=tuple(action for action in decision.actions if not isinstance(action, READS)),
            because=(*decision.because, complaint) if complaint else decision.because,
            wake_at=Wall(wake.ms) if wake else None,
            dialect=self.dialect(key.ref),
        )


def on_trees(
    sources: Iterable[Source], now: Wall, rooms: tuple[Room, ...] = ROOMS, describe: Ask = nobody_is_asked
) -> Plan:
    """Plan on files."""
    look, remarks = look_at(sources, now, rooms, describe)
    return look.plan(remarks)


def look_at(
    sources: Iterable[Source], now: Wall, rooms: tuple[Room, ...] = ROOMS, describe: Ask = nobody_is_asked
) -> tuple[Look, list[str]]:
    """A look at files: they are the whole world, and every read of it is confirmed. Remarks for who wrote them, too."""
    look, files, kinds = Look(now, rooms, describe), list(sources), watched(rooms)
    remarks = tell(look, files, kinds)
    if not look.objects and not any(kind_of(one.tree) == CONFIGURATION for one in files):
        names = ", ".join(str(kind) for kind in kinds)
        remarks.append(f"no object of a kind that node-remedy looks at ({names})")
    while (pending := look.reads()) or look.wanted():
        for one in look.wanted():
            others = tuple(kind for kind in (one.kind, one.template) if kind not in kinds)
            remarks += [remark for remark in tell(look, files, others) if remark not in remarks]
            look.follow(one.kind)
        for read in pending:
            more: Effect | None = read
            while more is not None:
                more = look.answer(more, look.remembered(more))
    return look, remarks


def tell(look: Look, files: list[Source], kinds: tuple[Kind, ...]) -> list[str]:
    """All objects of these kinds; returns remarks."""
    chosen, remarks = last_of_each(files, kinds)
    for kind, tree in chosen:
        try:
            look.seen(convert(kind, with_uid(tree, kind)))
        except Undecodable as problem:
            look.unreadable(problem)
    told = {kind for kind, _ in chosen}
    for kind, found in defined(source.tree for source in files):
        look.keeps(kind, found)
    lacking = undefined((source.tree for source in files), kinds) - told
    for kind in kinds:
        # Without Clusters the name of one is a mere word: a dump of Machines need not hold them.
        if kind in lacking or (kind == CLUSTER and kind not in told):
            look.unserved(kind)
        else:
            look.complete(kind)
    return [*remarks, *(remark(kind) for kind in kinds if kind in lacking)]


def last_of_each(sources: Iterable[Source], kinds: tuple[Kind, ...]) -> tuple[list[tuple[Kind, Any]], list[str]]:
    """The objects of our kinds; where two have one name the last counts, with a remark."""
    chosen: dict[tuple[Kind, str, str, int], Source] = {}
    remarks = []
    for number, source in enumerate(sources):
        kind = kind_of(source.tree)
        if kind is None:
            remarks.append(f"{source.origin}: an entry without apiVersion and kind was left out")
            continue
        if kind == CONFIGURATION:
            remarks.append(f"{source.origin}: {BARE}")
        if kind not in kinds:
            continue
        namespace, name = named(source.tree)
        identity = (kind, namespace, name, 0 if name else number + 1)
        if earlier := chosen.get(identity):
            twice = f"{'/'.join(word for word in (kind.kind, namespace, name) if word)} is given twice"
            remarks.append(f"{source.origin}: {twice}, first in {earlier.origin}; the last one counts")
        chosen[identity] = source
    return [(identity[0], source.tree) for identity, source in chosen.items()], remarks


def kind_of(tree: dict[str, Any]) -> Kind | None:
    """The kind that an object says it is. Its version does not matter: we read what all versions share."""
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str) or not version or not kind:
        return None
    return Kind(version.rpartition("/")[0], kind)


def named(tree: dict[str, Any]) -> tuple[str, str]:
    """Namespace and name, whatever the object is."""
    meta = tree.get("metadata")
    if not isinstance(meta, dict):
        return "", ""
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def with_uid(tree: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """An object written by hand has no uid; it is the only one of its name, so that its name serves as one."""
    meta = tree.get("metadata")
    if not isinstance(meta, dict) or meta.get("uid"):
        return tree
    namespace, name = named(tree)
    return {**tree, "metadata": {**meta, "uid": f"{kind.kind}/{namespace}/{name}"}}
