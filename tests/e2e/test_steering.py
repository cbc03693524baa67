"""`node-remedy stop`, `release` and `attest` as a person types them, while a manager fences on a real control plane.

Whoever types has one of the shipped roles and nothing else: the releaser stops and releases, the attester gives a word.
What the BMCs were asked, and what really runs where, is judged by `World`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.devices.device import PASSWORD
from tests.devices.ipmi import Bmc
from tests.e2e import audit
from tests.e2e.api import Json, eventually
from tests.e2e.commands import Answer, typed
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import allow, bind
from tests.e2e.fleet import Fleet
from tests.e2e.managers import Manager
from tests.e2e.repairs import a_stateful_set, notes
from tests.e2e.test_fencing import FENCES, PODS, SETS, SYSTEM, configure
from tests.e2e.test_power_cycle import BUDGETS, GENEROUS

RELEASER, ATTESTER, EDITOR, STRANGER = "viewer", "remediator", "editor", "stranger"
ATTESTED = "node-remedy.dev/attested-off"
DATABASE = {"tier": "db"}
SICK = ("halted", "twin", "freed", "mute")
LONG = "30m"
STEERED = ("annotations", "deletionTimestamp")


@dataclass
class Shift:
    """A cluster in which nodes hang, and people who steer their fences."""

    plane: ControlPlane
    fleet: Fleet
    bmcs: dict[str, Bmc]
    homes: dict[str, str]  # computer → the pod that runs there

    def types(self, who: str, word: str, node: str, *more: str, then: str = "") -> Answer:
        return typed(self.plane, who, word, node, *more, then=then)

    def begin(self, name: str, **spec: object) -> None:
        """Its node hangs and is to be fenced; returns when it is isolated and waits for its power-off."""
        self.fleet.crash(name)
        eventually(lambda: self.fleet.ready_status(name) == "Unknown", f"the silence of {name} is noticed", 60)
        body = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": f"node-fence-{name}"}}
        wanted = {"node": name, "powerManagementDelay": LONG, "nodeReadyTimeout": "20s", **spec}
        self.fleet.api.create(FENCES, {**body, "spec": wanted}).ok()
        eventually(lambda: self.is_isolated(name) and self.state(name) == "running", f"{name} is isolated", 120)

    def hurry(self, name: str) -> None:
        """The delay before its power-off is over."""
        self.fleet.api.merge(f"{FENCES}/node-fence-{name}", {"spec": {"powerManagementDelay": "0s"}}).ok()

    def fence(self, name: str) -> Json:
        """Its NodeFence, or {} when there is none."""
        return self.fleet.api.find(f"{FENCES}/node-fence-{name}")

    def state(self, name: str) -> str:
        return str(self.fence(name).get("status", {}).get("state", ""))

    def is_isolated(self, name: str) -> bool:
        return bool(self.fleet.node(name)["spec"].get("unschedulable"))

    def places(self, name: str) -> list[str]:
        """Where the pod really runs that was on this computer."""
        return self.fleet.world.where(f"default/{self.homes[name]}")

    def wishes(self) -> list[tuple[str, Json, Json]]:
        """What people want of all fences."""
        found = [(one["metadata"], one["spec"]) for one in self.fleet.api.items(FENCES)]
        return [(meta["name"], spec, {key: meta.get(key) for key in STEERED}) for meta, spec in found]

    def offs(self, name: str) -> int:
        return len(self.fleet.world.when("powered off", name))


@pytest.fixture(scope="module")
def shift(installed_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shift]:
    bmcs = {name: Bmc(tmp_path_factory.mktemp(name)) for name in SICK}
    installed_plane.api().create(BUDGETS, GENEROUS).ok()
    with Fleet(installed_plane) as fleet:
        for name, bmc in bmcs.items():
            bmc.start()
            fleet.connect(bmc, name)
        fleet.add_computers("halted", "mute", labels=DATABASE)
        fleet.api.create(SETS, a_stateful_set(2, DATABASE)).ok()
        homes = eventually(lambda: homes_of(fleet, "web-0", "web-1"), "both pods run", 60)
        fleet.add_computers("spare-0", "spare-1", labels=DATABASE)
        fleet.add_computers("twin", "freed", *(f"well-{number}" for number in range(4)))
        secret = {"password": base64.b64encode(PASSWORD.encode()).decode()}
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "bmc"}, "data": secret}
        fleet.api.create(f"/api/v1/namespaces/{SYSTEM}/secrets", body).ok()
        for name, bmc in bmcs.items():
            configure(fleet, name, bmc)
        give_roles(installed_plane)
        with Manager(installed_plane) as manager:
            eventually(manager.leads, "the manager leads", 60)
            yield Shift(installed_plane, fleet, bmcs, homes)
    for bmc in bmcs.values():
        bmc.stop()


def homes_of(fleet: Fleet, *pods: str) -> dict[str, str]:
    """Computer → pod; {} until all of them run."""
    found = {name: pod for pod in pods for name in fleet.world.where(f"default/{pod}")}
    return found if len(found) == len(pods) else {}


def give_roles(plane: ControlPlane) -> None:
    """The shipped ones to those who steer; whoever may edit a fence and see its node lacks nothing but the verb."""
    admin = plane.api()
    bind(admin, "steering-releases", "node-remedy-releaser", RELEASER)
    bind(admin, "steering-attests", "node-remedy-attester", ATTESTER)
    allow(admin, "edit-fences", [("ha.k8s.io", "nodefences", ("get", "patch")), ("", "nodes", ("get",))], EDITOR)
    may = (RELEASER, ATTESTER, EDITOR)
    eventually(lambda: {404} == {plane.api(who).get(f"{FENCES}/nobody").status for who in may}, "the rights are there")


@pytest.mark.timeout(420)
def test_a_fence_that_is_stopped_stands_still_until_a_person_lets_it_go_on(shift: Shift) -> None:
    """Of two alike the stopped one stays on, isolated, with its pod; undone, it goes off once and its node is back."""
    for name in ("halted", "twin"):
        shift.begin(name)
    stopped = shift.types(RELEASER, "stop", "halted")
    for name in ("halted", "twin"):
        shift.hurry(name)
    eventually(lambda: shift.state("twin") == "final", f"the other one is fenced: {shift.fence('twin')}", 180)
    still = (shift.offs("twin"), shift.offs("halted"), shift.places("halted"), shift.is_isolated("halted"))
    undone = shift.types(RELEASER, "stop", "halted", "--undo")
    eventually(lambda: shift.state("halted") == "final", f"it goes on: {shift.fence('halted')}", 180)
    eventually(lambda: shift.places("halted") not in ([], ["halted"]), "its pod has moved", 60)

    assert (
        Answer(0, "The fence of halted is stopped: what runs ends, power comes back, nothing more is freed.\n")
        == stopped
    )
    assert (1, 0, ["halted"], True) == still
    assert Answer(0, "The fence of halted goes on.\n") == undone
    assert (1, True, False) == (shift.offs("halted"), shift.fleet.is_ready("halted"), shift.is_isolated("halted"))
    assert [] == shift.fleet.world.overlaps
    steered = audit.writes(shift.plane.audit_log, "node-fence-halted", RELEASER)
    assert ["patch nodefences"] * 2 == [one.did for one in steered]


@pytest.mark.timeout(240)
def test_a_node_that_is_released_is_as_it_was_before(shift: Shift) -> None:
    """Its NodeFence goes, its isolation with it, and nobody has switched it off."""
    shift.begin("freed")
    released = shift.types(RELEASER, "release", "freed")
    eventually(lambda: not shift.fence("freed"), f"the fence is gone: {shift.fence('freed')}", 60)

    assert (0, True) == (released.code, released.text.startswith("Node freed is being released"))
    assert (False, {}) == (shift.is_isolated("freed"), notes_of_ours(shift, "freed"))
    assert (0, True) == (shift.offs("freed"), shift.bmcs["freed"].is_on())


def notes_of_ours(shift: Shift, name: str) -> dict[str, str]:
    """What we note on a Node while we fence it."""
    found = shift.fleet.node(name)["metadata"].get("annotations", {})
    return {key: value for key, value in found.items() if key.startswith("node-remedy.dev/")}


@pytest.mark.timeout(420)
def test_a_persons_word_frees_what_no_device_can_prove_off(shift: Shift) -> None:
    """A BMC that does not switch: nothing is freed until the attester, who pulled the plug, types the node's name.

    Who said so is on the fence and is told; another name at the prompt, and a right that is missing, write nothing.
    """
    fleet = shift.fleet
    shift.bmcs["mute"].fault("ignores")
    shift.begin("mute", stepRetries=0, maxRestarts=0)
    shift.hurry("mute")
    eventually(lambda: "FenceGivenUp" in told(shift, "mute"), f"the BMC does not obey: {shift.fence('mute')}", 120)
    fleet.power("mute", on=False)
    refused = shift.types(EDITOR, "attest", "mute", "--yes")
    mistyped = shift.types(ATTESTER, "attest", "mute", then="twin\n")
    before = (word_on(shift, "mute"), freed(shift, "mute"), pod_on(shift, "mute"))
    said = shift.types(ATTESTER, "attest", "mute", then="mute\n")
    eventually(lambda: shift.places("mute") not in ([], ["mute"]), f"its pod has moved: {shift.fence('mute')}", 120)
    word, evidence = word_on(shift, "mute"), freed(shift, "mute")
    released = shift.types(RELEASER, "release", "mute")
    eventually(lambda: not shift.fence("mute"), f"the fence is gone: {shift.fence('mute')}", 120)
    fleet.power("mute", on=True)
    eventually(lambda: fleet.is_ready("mute"), "the node is back", 60)

    assert (2, True) == (refused.code, "ask for the ClusterRole node-remedy-attester" in refused.text)
    assert (2, True) == (mistyped.code, "'twin' is not 'mute': nothing was attested" in mistyped.text)
    assert ({}, {}, "mute") == before
    assert (0, True) == (said.code, f"{ATTESTER} attests that node mute is off" in said.text)
    assert (ATTESTER, f"Attested by {ATTESTER} at {word['at']}") == (word["by"], evidence["proof"])
    assert word["at"] in told(shift, "mute")["ProvenFenced"]["note"]
    assert (0, False, {}) == (released.code, shift.is_isolated("mute"), notes_of_ours(shift, "mute"))
    assert [] == fleet.world.overlaps


def told(shift: Shift, name: str) -> dict[str, Json]:
    return notes(shift.fleet.api, f"node-fence-{name}", "NodeFence")


def word_on(shift: Shift, name: str) -> dict[str, str]:
    """The attestation on its fence."""
    found: dict[str, str] = json.loads(shift.fence(name)["metadata"].get("annotations", {}).get(ATTESTED, "{}"))
    return found


def freed(shift: Shift, name: str) -> Json:
    """What the fence has on record of freeing."""
    found = shift.fence(name)["status"].get("evidence", {})
    return {key: value for key, value in found.items() if key in ("proof", "freeBy", "freedAt")}


def pod_on(shift: Shift, name: str) -> str:
    """Where the API has the pod that was on this computer."""
    return str(shift.fleet.api.get(f"{PODS}/{shift.homes[name]}").ok()["spec"]["nodeName"])


WRONG = (
    (RELEASER, "stop", "well-0", "node well-0 has no NodeFence (node-fence-well-0)", "see kubectl get nodefences"),
    (RELEASER, "release", "well-0", "node well-0 has no NodeFence (node-fence-well-0)", "see kubectl get nodefences"),
    (ATTESTER, "attest", "well-0", "node well-0 has no NodeFence", "kubectl get metal3remediations -A"),
    (ATTESTER, "attest", "well-1", "node-fence-well-1 fences no boot of node well-1 now", "there is nothing to attest"),
    (ATTESTER, "release", "well-1", "cannot delete NodeFence node-fence-well-1", "have this right granted to you"),
    (RELEASER, "attest", "well-1", "cannot read Node well-1", "ClusterRole node-remedy-attester"),
    (STRANGER, "stop", "well-1", "cannot read NodeFence node-fence-well-1", "have this right granted to you"),
)


def test_who_may_not_or_means_another_node_reads_why_and_changes_nothing(shift: Shift) -> None:
    """Each message names the object and a remedy: a node without a fence, one that has not begun, a missing right."""
    body = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": "node-fence-well-1"}}
    shift.fleet.api.create(FENCES, {**body, "spec": {"node": "well-1", "newDelay": LONG}}).ok()
    before = shift.wishes()
    for who, word, node, problem, remedy in WRONG:
        answer = shift.types(who, word, node, *(("--yes",) if word == "attest" else ()))

        assert (2, True, True) == (answer.code, problem in answer.text, remedy in answer.text), answer
    assert before == shift.wishes()
