"""The only maker of proofs (rule 3 of the architecture), and the rule of fresh reads.

Called by every room that frees a workload. A room asks "is this node safe?" with what it has read; the answer
is a proof, or None. Unknown is not off, a cached state is not a state: the host must have been read live within
the last five seconds, must be held off by us, and must be the host of that very node.
"""

from __future__ import annotations

from noderemedy.model.attestation import Attestation
from noderemedy.model.host import Hold, Host, Power
from noderemedy.model.machine import Machine
from noderemedy.model.node import Node
from noderemedy.model.proof import Attested, FencedOff, InstanceGone, PoweredOff, StorageFenced, Subject
from noderemedy.model.room import Absent, Present
from noderemedy.model.run import Power as PlugPower
from noderemedy.model.run import Run, RunState
from noderemedy.model.time import Mono, Now, Span, Wall

FRESH = Span.seconds(5)
SILENT_WITHIN = Span.seconds(600)  # after power off; Kubernetes takes a minute to notice, patient clusters five
CLOCKS_WITHIN = Span.seconds(300)  # what the wall clocks of a leader and of the control plane may differ by
FRESH_RUN = Span.seconds(60)  # so long at most nobody was asking: before a question, and until the next one or now
INFRASTRUCTURE, DELETED = "InfrastructureReady", "Deleted"  # how Cluster API says that an instance is gone


def is_fresh(confirmed_at: Mono | None, now: Now) -> bool:
    """Whether a live read is recent enough to act irreversibly on."""
    return confirmed_at is not None and now.mono.since(confirmed_at) <= FRESH


def is_confirmed(entry: Present | Absent, now: Now) -> bool:
    """Whether what the cache says was read live just now."""
    return is_fresh(entry.confirmed_at, now)


def is_read_since(entry: Present, known: list[Mono]) -> bool:
    """Whether the last live read of an object began after we knew all these things."""
    return entry.confirmed_at is not None and all(entry.confirmed_at >= moment for moment in known)


def powered_off(
    node: Node, host_entry: Present, now: Now, held_for: str = "", off_at: Wall | None = None
) -> PoweredOff | None:
    """Proof that `node` cannot write, because its host is held off by us and was seen off; else None.

    `held_for` names the Metal3Remediation or NodeFence whose hold is meant; without it, it is the truth table's.
    `off_at` is when the host was first seen off under that hold, or, of a fence flow, by when it was off.

    The caller has checked that this is the node's host (consumerRef, providerID). `poweredOn` may be a minute
    old, so it counts only while our hold is in place. Three things make it news then: our hold was written onto a
    version of the host that said "on"; the baremetal operator writes its status onto the version that it read, so
    a state from before the hold is refused after it; and it never powers a held host on, as long as it is provisioned
    and not serviced. In every other state, and where it may not power the host off, its word is no proof. A node that
    reports while its host is off is another machine's (fault 55: a BMC's address that points elsewhere): then there is
    no proof, nor when it falls silent later.
    """
    host = host_entry.obj
    assert isinstance(host, Host)
    if not is_confirmed(host_entry, now):
        return None
    if host.power is not Power.OFF or not is_held(host, held_for) or host.paused or host.detached:
        return None
    if host.unsettled or host.power_off_disabled:
        return None
    if node.is_heard or (off_at is not None and has_outlived(node, off_at, now)):
        return None  # it runs on another host than this one
    hold = next(iter(host.holds_of(held_for)), None) if held_for else host.hold
    since = hold.since if isinstance(hold, Hold) else None
    return PoweredOff(
        subject=Subject(node.uid, node.boot_id),
        host_uid=host.uid,
        host_resource_version=host_entry.resource_version,
        seen_at=now.wall,
        held_since=since,
    )


def has_outlived(node: Node, off_at: Wall, now: Now) -> bool:
    """Whether its silence began so long after its host was off that the node was heard meanwhile.

    A silence that is dated in the future tells no time.
    """
    since = node.silent_since
    if since is None or since > now.wall + CLOCKS_WITHIN:
        return False
    return since > off_at + SILENT_WITHIN + CLOCKS_WITHIN


def instance_gone(node: Node, machine_entry: Present, keeper: str, now: Now) -> InstanceGone | None:
    """Proof that `node` cannot write, because its provider has ended the instance; else None.

    All of this must be in one live read of the Machine: it is being deleted; nobody but ourselves (`keeper` is our
    finalizer) keeps it any more; and its InfrastructureReady condition is False with the reason Deleted. A Machine that
    somebody let go of by hand lacks the last (race R42). The Node must be that instance's, by its providerID, and must
    not be heard of: a kubelet that still reports contradicts its provider.
    """
    machine = machine_entry.obj
    assert isinstance(machine, Machine)
    if not is_confirmed(machine_entry, now) or not machine.deleting or machine.finalizers != (keeper,):
        return None
    if not is_stated_gone(machine) or not machine.provider_id or node.provider_id != machine.provider_id:
        return None
    if node.is_heard:
        return None
    return InstanceGone(
        subject=Subject(node.uid, node.boot_id),
        machine_uid=machine.uid,
        machine_resource_version=machine_entry.resource_version,
        provider_id=machine.provider_id,
        seen_at=now.wall,
    )


def fenced_off(
    node_entry: Present,
    subject: Subject,
    asked: tuple[tuple[str, Run | None], ...],
    now: Now,
    off_at: Wall | None = None,
) -> FencedOff | None:
    """Proof that the boot `subject` is over, because all that powers its node is off; else None.

    `asked` has every method that can switch the node off, with the last run that asked its device. Each must have been
    asked just now, after the command, and have said off (races R31, R35); decision 34 says how old its word may be. The
    Node must be that very boot, as a live
    read shows, and must not be heard: a node that reports while its plug is off hangs on another plug (race R32). So
    does one that fell silent long after `off_at`, by when everything was off; None if that is not known.
    """
    if not asked or not is_subject(node_entry, subject, now) or node_entry.obj.is_heard:
        return None
    if off_at is not None and has_outlived(node_entry.obj, off_at, now):
        return None
    if to_ask(asked, now) is not None:
        return None
    runs = tuple(run.id for _, run in asked if run is not None)
    return FencedOff(subject, tuple(method for method, _ in asked), runs, now.wall)


def storage_fenced(
    node_entry: Present,
    subject: Subject,
    asked: tuple[tuple[str, Run | None], ...],
    covers: tuple[str, ...],
    now: Now,
) -> StorageFenced | None:
    """Proof that the boot `subject` cannot write to what `covers` names, and to nothing else; else None.

    The node may well be heard: it is cut off from its storage, not from its power.
    """
    if not asked or not covers or not is_subject(node_entry, subject, now):
        return None
    if to_ask(asked, now) is not None:
        return None
    return StorageFenced(subject, tuple(method for method, _ in asked), covers, now.wall)


def attested(
    node_entry: Present, subject: Subject, by: str, at: Wall, word: str, now: Now, *, may_be_heard: bool = False
) -> Attested | None:
    """Proof by somebody's word for this very boot; else None. Who gives it is checked where it is written.

    A person who says that a node is off is contradicted by a node that reports. An administrator's configuration
    (`clean-resource`) says that a remedy made the node safe, whatever its kubelet says.
    """
    if not by or not is_subject(node_entry, subject, now) or (node_entry.obj.is_heard and not may_be_heard):
        return None
    return Attested(subject, by, at, word)


def attested_by(node_entry: Present, word: Attestation, now: Now) -> Attested | None:
    """The same by the word of a person, for the boot that it names."""
    subject = Subject(word.node_uid, word.boot_id)
    if is_refuted(word, node_entry.obj) or word.at > now.wall + CLOCKS_WITHIN:
        return None
    return attested(node_entry, subject, word.by, word.at, "a person attests that the node is off", now)


def is_refuted(word: Attestation, node: Node) -> bool:
    """Whether the node reports, or has reported since the word was given: it was not off, and nobody may wait for its
    next silence."""
    return node.silent_since is None or node.silent_since > word.at


def is_subject(node_entry: Present, subject: Subject, now: Now) -> bool:
    """Whether a live read of just now shows that very boot of that very Node."""
    node = node_entry.obj
    assert isinstance(node, Node)
    is_named = bool(subject.node_uid and subject.boot_id)
    return (
        is_named and is_confirmed(node_entry, now) and (node.uid, node.boot_id) == (subject.node_uid, subject.boot_id)
    )


def to_ask(asked: tuple[tuple[str, Run | None], ...], now: Now) -> str | None:
    """The method whose device has to be asked next; None if all said off just now, one after the other.

    What a device takes to answer does not make its word older: no question would be young enough for a slow one. All
    other time does: until it was asked, until we learned of it, until the next was asked for, or until now.
    """
    said = [(method, run) for method, run in asked if run is not None and is_known_off(run)]
    if len(said) < len(asked):
        return next(one[0] for one in asked if one not in said)
    said.sort(key=lambda one: one[1].begun)
    links = zip(said, [*(run.begun for _, run in said[1:]), now.mono], strict=False)
    return said[0][0] if any(idle(run, until) > FRESH_RUN for (_, run), until in links) else None


def idle(run: Run, until: Mono) -> Span:
    """How much of the time since a run was asked for nobody spent at its device."""
    return until.since(run.begun) - run.took


def is_known_off(run: Run) -> bool:
    """Whether a device said off, and we know when it was asked."""
    return run.state is RunState.DONE and run.power is PlugPower.OFF and run.begun.ms > 0


def is_stated_gone(machine: Machine) -> bool:
    """Whether the provider says, in either generation of conditions, that the instance is deleted."""
    told = [one for one in (*machine.conditions, *machine.older_conditions) if one.type == INFRASTRUCTURE]
    return bool(told) and all((one.status, one.reason) == ("False", DELETED) for one in told)


def is_held(host: Host, held_for: str) -> bool:
    """Whether this hold of ours makes "off" news.

    The table holds a host only while it says "on". A Metal3Remediation may hold one that is off already: then "off"
    may be as old as the last poll, and the host may have come back meanwhile. Only a record that says "on" counts.
    """
    if not held_for:
        return host.held
    return any(isinstance(record, Hold) and record.was_on for record in host.holds_of(held_for))
