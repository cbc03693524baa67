"""Freeing actions and their proofs: what mypy refuses is refused at run time as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.builders import NODE_AT, NOW, a_host, a_node, present

from noderemedy.core.safety import powered_off
from noderemedy.model.actions import (
    IRREVERSIBLE,
    Action,
    AddRebootAnnotation,
    CreateJob,
    DeleteMachine,
    DeleteNode,
    DeletePod,
    DetachVolume,
    Guard,
    HoldHost,
    StartRun,
    TaintOutOfService,
)
from noderemedy.model.errors import Bug, NodeRemedyError, Permanent, Temporary, Theirs
from noderemedy.model.host import Power
from noderemedy.model.ids import MACHINE, NODE, ref
from noderemedy.model.node import OutOfService
from noderemedy.model.proof import PoweredOff, Subject
from noderemedy.model.time import Span
from noderemedy.model.workload import ATTACHMENT, POD

GUARD = Guard("node-uid-1", "103")


def a_proof(node_uid: str = "node-uid-1", boot_id: str = "boot-1") -> PoweredOff:
    proof = powered_off(
        a_node(node_uid, boot_id=boot_id, ready="Unknown"), present(a_host(power=Power.OFF, held=True)), NOW
    )
    assert proof is not None
    return proof


def test_a_node_goes_with_a_proof_for_it() -> None:
    """Same uid, same boot: the action can be built."""
    assert a_proof() == DeleteNode(NODE_AT, GUARD, "boot-1", a_proof()).proof


@pytest.mark.parametrize("proof", [None, "it is off", True, Span(600_000), a_proof().subject, object()])
def test_anything_else_is_no_proof(proof: Any) -> None:
    """None, a word, time that passed, a subject alone: a bug of ours, refused."""
    with pytest.raises(Bug, match="needs a proof"):
        DeleteNode(NODE_AT, GUARD, "boot-1", proof)


@pytest.mark.parametrize(
    ("guard", "boot_id", "proof"),
    [
        (GUARD, "boot-1", a_proof("node-uid-2")),
        (GUARD, "boot-1", a_proof(boot_id="boot-2")),
        (GUARD, "boot-2", a_proof()),
        (Guard("node-uid-2", "103"), "boot-1", a_proof()),
        (Guard("", "103"), "boot-1", a_proof("")),
    ],
)
def test_a_proof_for_another_node_or_boot_is_refused(guard: Guard, boot_id: str, proof: PoweredOff) -> None:
    """The subject of the proof is the very boot of the very Node object that goes; no uid is nobody."""
    with pytest.raises(Bug, match="the proof is for"):
        DeleteNode(NODE_AT, guard, boot_id, proof)


@pytest.mark.parametrize("proof", [a_proof("node-uid-2"), a_proof(boot_id="boot-2"), None, "off"])
@pytest.mark.parametrize("freeing", [TaintOutOfService, DeletePod, DetachVolume])
def test_nothing_is_freed_on_another_proof(freeing: Any, proof: Any) -> None:
    """The taint, a pod and a volume demand what a Node demands: a proof for that very boot."""
    subject = Subject("node-uid-1", "boot-1")
    build: Callable[[], object] = {
        TaintOutOfService: lambda: TaintOutOfService(
            NODE_AT, GUARD, "boot-1", (), OutOfService("room", "a/b", "uid"), proof
        ),
        DeletePod: lambda: DeletePod(ref(POD, "p", "default"), Guard("pod"), subject, proof),
        DetachVolume: lambda: DetachVolume(ref(ATTACHMENT, "v"), Guard("volume"), subject, proof),
    }[freeing]

    with pytest.raises(Bug):
        build()


def test_without_an_argument_it_cannot_be_built() -> None:
    """Leaving the proof out is an error of the constructor."""
    build: Any = DeleteNode
    with pytest.raises(TypeError):
        build(NODE_AT, GUARD, "boot-1")


def test_actions_and_proofs_cannot_be_changed() -> None:
    """Frozen: what was checked stays as it was."""
    action: Any = DeleteNode(NODE_AT, GUARD, "boot-1", a_proof())
    with pytest.raises(AttributeError):
        action.guard = Guard("other")
    with pytest.raises(AttributeError):
        action.proof.subject = None


def test_a_copy_with_another_proof_is_checked_as_well() -> None:
    """A changed copy goes through the same door."""
    action = DeleteNode(NODE_AT, GUARD, "boot-1", a_proof())

    with pytest.raises(Bug):
        msgspec.structs.replace(action, proof=a_proof("node-uid-2"))


def test_what_cannot_be_undone_is_named() -> None:
    """Powering off, freeing, deleting a machine, running agents and remedies; every action says what it is about."""
    freeing = (AddRebootAnnotation, HoldHost, DeleteNode, TaintOutOfService, DeleteMachine)
    assert (*freeing, StartRun, CreateJob) == IRREVERSIBLE
    assert all("ref" in kind.__struct_fields__ for kind in Action.__args__)


def test_refs_and_kinds_have_names_for_people() -> None:
    """Kinds of the core group have no dot; refs sort by cluster, kind, namespace and name."""
    machine = ref(MACHINE, "m", "metal")

    assert ("Node", "Machine.cluster.x-k8s.io") == (str(NODE), str(MACHINE))
    assert ("Machine/metal/m", "Node//n") == (str(machine), str(ref(NODE, "n")))
    assert [ref(NODE, "a"), ref(NODE, "b"), machine] == sorted([machine, ref(NODE, "b"), ref(NODE, "a")])


def test_errors_carry_their_blame() -> None:
    """Ours or theirs; theirs may pass or stay."""
    assert issubclass(Bug, NodeRemedyError)
    assert not issubclass(Bug, Theirs)
    assert (Theirs, Theirs) == (Temporary.__base__, Permanent.__base__)
