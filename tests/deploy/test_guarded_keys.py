"""The admission policy against wire/names.py: whoever adds an annotation says whether it takes a right to write it.

What the policy does on a real API server is in tests/e2e/test_admission.py; here it is that no key is forgotten.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from noderemedy.wire import names

TEXT = (Path(__file__).parents[2] / "deploy" / "admission" / "remediation-annotations.yaml").read_text(encoding="utf-8")
ON_NODES = {names.REPAIR}  # all that a Node may ask for: what means nothing there must not refuse a restore
# Names that anybody may write who may edit the object, and why that is no way to a repair or to a proof.
FREE = {
    names.ASKED_AT: "a time that only delays",
    names.MACHINE_HOST: "of the provider",
    names.UNHEALTHY: "keeps a host from being chosen, and nothing is repaired by it",
    names.UNHEALTHY_BEFORE: "the same",
    names.CLUSTER_PAUSED: "stops repairs",
    names.PAUSED: "stops repairs",
    names.MODE: "stops repairs",
    names.APPROVAL: "asks before repairs",
    names.SKIP_REMEDIATION: "stops repairs",
    names.HOST_PAUSED: "stops repairs",
    names.HOST_DETACHED: "stops repairs",
    names.ANY_REBOOT: "of the operator: others ask it for a reboot, and holds wait meanwhile",
    names.GOVERN: "on a check, whose editors say what is sick anyway",
    names.DIALECT: "the same",
    names.CONFIGURATION: "on a ConfigMap of our namespace",
    names.LAST_GOOD_OF: "on a ConfigMap of our namespace",
    names.LEADERSHIP: "on a Lease of our namespace",
    names.REMEDY_NAME: "on a Job of our namespace",
    names.NODE: "on a Job of our namespace",
    names.EPISODE: "on a Job of our namespace",
    names.VOUCHES_FOR: "on a Job of our namespace",
    names.JOB_FOR: "on a Job of our namespace",
    names.MANAGED_BY: "a label that we write and never believe",
    names.REMEDY: "on a Node: frees only by the Job that it names; without it a chain begins anew",
    names.REMEDIED_AT: "on a Node: stops repairs by events that happened before",
    names.REMEDIATION_TIMESTAMP: "on a Node: for people",
    names.REMEDIATION_PODNAME: "on a Node: for people",
    names.OUT_OF_SERVICE_BY: "on a Node: whose taint it is, for its end",
    names.CORDONED: "on a Node: whose cordon it is, for its end",
    names.REPLACES: "on a new Machine: a note",
    names.EXCLUDE_DRAIN: "of Cluster API",
    names.CLUSTER_NAME: "of Cluster API",
    names.CLONED_FROM: "of Cluster API",
    names.CLONED_FROM_KIND: "of Cluster API",
    names.ATTESTED_OFF: "guarded by fence-attestations.yaml",
    names.REQUESTED_BY: "on a NodeFence, whose editors may ask for one anyway",
}
WORDS = {names.MARKED_BY, names.REBOOT_VALUE, names.OURS, names.PREFIX}  # values and parts, no keys


def variables(text: str) -> dict[str, str]:
    policy: dict[str, Any] = next(iter(yaml.safe_load_all(text)))
    return {one["name"]: one["expression"] for one in policy["spec"]["variables"]}


def guarded(text: str) -> set[str]:
    """The keys and the prefixes of keys that the policy looks at."""
    found = variables(text)
    return set(re.findall(r"'([^' ]+/[^' ]*)'", found["guarded"])) | set(
        re.findall(r"startsWith\('([^']+)'\)", found["holds"])
    )


def assert_complete(text: str) -> None:
    """Every name is guarded or free, none is both, and the policy guards none that we do not know."""
    known = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)} - WORDS
    assert guarded(text) <= known, f"nobody reads {guarded(text) - known}"
    assert known - guarded(text) == set(FREE), f"guarded or free? {(known - guarded(text)) ^ set(FREE)}"


def assert_nodes(text: str) -> None:
    """On Nodes, by their status door, too, the wish for a repair is guarded, and nothing else by its name."""
    rule = next(iter(yaml.safe_load_all(text)))["spec"]["matchConstraints"]["resourceRules"][-1]
    assert ["nodes", "nodes/status"] == rule["resources"]
    on_nodes, _, _ = variables(text)["guarded"].partition(" : ")
    assert ON_NODES == set(re.findall(r"'([^' ]+/[^' ]*)'", on_nodes))


def test_no_key_is_forgotten() -> None:
    """A name of ours is in the policy, or stands in the list above with a reason."""
    assert_complete(TEXT)


def test_a_node_is_looked_at_by_both_doors() -> None:
    """A write to the status of a Node carries metadata along."""
    assert_nodes(TEXT)


@pytest.mark.parametrize(
    ("check", "lost"),
    [
        (assert_complete, "key.startsWith('remediation.metal3.io/hold-') ||"),
        (assert_complete, "key.startsWith('remediation.metal3.io/fence-hold-') ||"),
        (assert_complete, "'remediation.metal3.io/node-backup',"),
        (assert_nodes, ", nodes/status"),
    ],
)
def test_sabotage_is_seen(check: Any, lost: str) -> None:
    """A key, a prefix or a door that is taken out of the policy makes a difference."""
    assert lost in TEXT

    with pytest.raises(AssertionError):
        check(TEXT.replace(lost, ""))


def test_a_new_name_has_to_be_decided_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is added to names.py and to neither list fails."""
    monkeypatch.setattr(names, "ANOTHER", "remediation.metal3.io/another", raising=False)

    with pytest.raises(AssertionError, match="another"):
        assert_complete(TEXT)
