"""The proof that an instance is gone: when it is made, and all the cases in which it is not."""

from __future__ import annotations

import pytest
from tests.builders import NOW, PROVIDER_ID, a_node, ago, later, present
from tests.core.owner.scene import PROVIDER, deleted

from noderemedy.core import safety
from noderemedy.core.owner.view import FINALIZER
from noderemedy.model.machine import Machine
from noderemedy.model.node import Condition, Node
from noderemedy.model.proof import InstanceGone, Subject

SILENT = a_node(ready="Unknown")


def test_an_instance_that_its_provider_has_ended_is_a_proof() -> None:
    """It names the node's uid and boot, the Machine and its version, and the instance."""
    proof = safety.instance_gone(SILENT, present(deleted(), version="9"), FINALIZER, NOW)

    assert InstanceGone(Subject("node-uid-1", "boot-1"), "machine-uid-1", "9", PROVIDER_ID, NOW.wall) == proof


LESS: list[tuple[Machine, Node]] = [
    (deleted(deleting=False), SILENT),
    (deleted(finalizers=(PROVIDER, FINALIZER)), SILENT),
    (deleted(finalizers=()), SILENT),
    (deleted(finalizers=(PROVIDER,)), SILENT),
    (deleted(conditions=()), SILENT),
    (deleted(conditions=(Condition("InfrastructureReady", "True", ago(5), "Deleted"),)), SILENT),
    (deleted(conditions=(Condition("InfrastructureReady", "Unknown", ago(5), "Deleted"),)), SILENT),
    (deleted(conditions=(Condition("InfrastructureReady", "False", ago(5), "NotReady"),)), SILENT),
    (deleted(conditions=(Condition("BootstrapReady", "False", ago(5), "Deleted"),)), SILENT),
    (deleted(older_conditions=(Condition("InfrastructureReady", "True"),)), SILENT),
    (deleted(provider_id=""), a_node(ready="Unknown", provider_id="")),
    (deleted(), a_node(ready="Unknown", provider_id="")),
    (deleted(), a_node(ready="Unknown", provider_id="cloud://another")),
    (deleted(), a_node(ready="True")),
    (deleted(), a_node(ready="False")),
]


@pytest.mark.parametrize(("machine", "node"), LESS)
def test_anything_less_is_none(machine: Machine, node: Node) -> None:
    """Kept by somebody, let go without a word, another instance's node, or a node that still reports: no proof."""
    assert safety.instance_gone(node, present(machine), FINALIZER, NOW) is None


def test_a_cached_statement_is_no_proof() -> None:
    """The Machine must have been read live within five seconds, counted from the begin of that read."""
    assert safety.instance_gone(SILENT, present(deleted(), confirmed=False), FINALIZER, NOW) is None
    assert safety.instance_gone(SILENT, present(deleted()), FINALIZER, later(5)) is not None
    assert safety.instance_gone(SILENT, present(deleted()), FINALIZER, later(5.001)) is None
