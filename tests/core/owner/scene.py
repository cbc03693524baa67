"""One Machine of a simulated cloud that names us its owner and waits for it, in every state that tests ask for."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace
from tests.builders import EVERYBODY, NODE_AT, a_machine, a_node, ago, an_entry, present

from noderemedy.core.claim import Claim
from noderemedy.core.owner.view import FINALIZER, OURS, View, successor_at
from noderemedy.model.actions import Action
from noderemedy.model.budget import Granted, Need, Refused
from noderemedy.model.cluster import Cluster
from noderemedy.model.decision import Decision
from noderemedy.model.ids import MACHINE, ref
from noderemedy.model.lease import Lease
from noderemedy.model.machine import Machine
from noderemedy.model.machineconditions import OWNER_REMEDIATED, Graded, MachineConditions
from noderemedy.model.node import Condition, Node
from noderemedy.model.replacement import Replacement, Step
from noderemedy.model.room import Absent, Entry
from noderemedy.model.workload import POD, Pod, PodsOfNode

AT = ref(MACHINE, "pool-a", "cloud")
SUCCESSOR = "pool-a-df8f6"
SUCCESSOR_AT = ref(MACHINE, SUCCESSOR, "cloud")
PROVIDER = "provider.example/instance"
TEMPLATE = '{"annotations":{},"labels":{},"spec":{}}'
WAITS = MachineConditions(older=(Graded(OWNER_REMEDIATED, "False", "WaitingForRemediation", severity="Warning"),))
WELL = MachineConditions(older=(Graded(OWNER_REMEDIATED, "True"),))
GONE = Condition("InfrastructureReady", "False", ago(5), "Deleted")
HOLDER = "owner"
MINE = Claim(NODE_AT, present(Lease("lease-uid", HOLDER)), HOLDER)
GRANTED = Granted(AT, ago(1), asked=EVERYBODY)  # for what is ahead in a scene
ASKED = Need(AT, "owner", ago(60), is_running=False, node=NODE_AT)
OF_BEFORE = Granted(AT, ago(2))  # told to a replacement that ran: it names no deletion
DEFAULT_NODE = a_node(ready="Unknown")
CORDONED = {"node-remedy.dev/cordoned": "node-remedy"}


def a_sick_machine(**changes: Any) -> Machine:
    """A Machine that waits for its owner, which is us."""
    machine = a_machine(uid="machine-uid-1", host=None)
    asked = (Condition(OWNER_REMEDIATED, "False", ago(60)),)
    given = {"owner": OURS, "told": WAITS, "conditions": asked, "finalizers": (PROVIDER,), "template": TEMPLATE}
    return replace(machine, **{**given, **changes})


def recorded(step: Step = Step.DRAIN, seconds: float = 30, **changes: Any) -> Machine:
    """The same with our record and finalizer."""
    record = Replacement(SUCCESSOR, ago(seconds), step)
    return a_sick_machine(**{"replacement": record, "finalizers": (PROVIDER, FINALIZER), **changes})


def deleted(seconds: float = 30, **changes: Any) -> Machine:
    """The same after it was deleted; its provider has ended the instance and let go of it."""
    given = {"deleting": True, "deleted_at": ago(seconds), "finalizers": (FINALIZER,), "conditions": (GONE,)}
    return recorded(Step.DELETE, **{**given, **changes})


def a_list(*pods: Pod | str, confirmed: bool = True) -> Entry:
    found = [Pod(f"uid-{one}") if isinstance(one, str) else one for one in pods]
    entries = tuple((ref(POD, f"pod-{number}", "default"), pod) for number, pod in enumerate(found))
    return present(PodsOfNode(entries), confirmed=confirmed)


def a_scene(
    machine: Machine | None = None,
    node: Node | Entry | None = DEFAULT_NODE,
    *,
    pods: Entry | None = None,
    successor: Machine | Entry | None = None,
    answer: Granted | Refused | None = GRANTED,
    claim: Claim = MINE,
    cluster: Cluster | None = None,
    confirmed: bool = True,
    node_confirmed: bool = True,
) -> View:
    machine = machine or a_sick_machine()
    view = View(
        ref=AT,
        entry=present(machine, confirmed=confirmed, version="101"),
        machine=machine,
        successor_at=successor_at(AT, machine),
        successor=an_entry(successor, confirmed=confirmed, version="105"),
        claim=claim,
        node_at=NODE_AT if machine.node_name else None,
        node_entry=an_entry(node, confirmed=node_confirmed, version="103"),
        pods_entry=pods or Absent(),
        cluster=cluster,
        need=ASKED,
        answer=answer,
    )
    return replace(view, answer=replace(GRANTED, begins=(view.begins,))) if answer is GRANTED and view.begins else view


def kinds(decision: Decision) -> list[type[Action]]:
    return [type(action) for action in decision.actions]


def reasons(decision: Decision) -> list[type]:
    return [type(reason) for reason in decision.because]
