"""Who may give their word that a node is off, on a real API server: the verb `attest`, and the own name only.

And who may stop a fence and release its node, which is another role.
"""

from __future__ import annotations

import dataclasses
import json
from itertools import count

import pytest
from tests.e2e.api import Api, Json, Reply, eventually
from tests.e2e.commands import Answer, typed
from tests.e2e.controlplane import ControlPlane
from tests.e2e.deploy import allow, bind, manager_api

from noderemedy.model.attestation import Attestation
from noderemedy.model.time import Wall
from noderemedy.wire.attestations import attestation_text

FENCES = "/apis/ha.k8s.io/v1/nodefences"
REMEDIATIONS = "/apis/remediation.metal3.io/v1alpha1/namespaces/default/metal3remediations"
ATTESTED = "node-remedy.dev/attested-off"
NUMBERS = count(1)
NAMES = ("CORP\\anna", 'the "boss"', "back\\\\slash\\", "<anna>&'bert'", "änna@größe.example", "安娜-😀", "o=x,cn=a/b")


@pytest.fixture(scope="module")
def identities(installed_plane: ControlPlane) -> dict[str, Api]:
    """`editor` may change NodeFences as it likes, `remediator` holds the shipped ClusterRole, the manager is itself."""
    admin = installed_plane.api()
    verbs = ("get", "list", "create", "update", "patch", "delete")
    kinds = (("ha.k8s.io", "nodefences"), ("remediation.metal3.io", "metal3remediations"))
    allow(admin, "edit-fences", [(group, kind, verbs) for group, kind in kinds], "editor")
    bind(admin, "attester-attests", "node-remedy-attester", "remediator")
    found = {"editor": installed_plane.api("editor"), "remediator": installed_plane.api("remediator")}
    eventually(lambda: all(api.get(FENCES).status == 200 for api in found.values()), "the rights are in force")
    eventually(lambda: attest(found["editor"], a_fence(admin), "editor").status == 403, "the policy is in force")
    return {**found, "manager": manager_api(installed_plane), "admin": admin}


def a_fence(admin: Api, **metadata: Json) -> str:
    node = f"worker-{next(NUMBERS)}"
    body = {
        "apiVersion": "ha.k8s.io/v1",
        "kind": "NodeFence",
        "metadata": {"name": f"node-fence-{node}", **metadata},
        "spec": {"node": node},
    }
    admin.create(FENCES, body).ok()
    return f"{FENCES}/node-fence-{node}"


def a_remediation(admin: Api) -> str:
    name = f"machine-{next(NUMBERS)}"
    kind = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3Remediation"}
    admin.create(REMEDIATIONS, {**kind, "metadata": {"name": name, "namespace": "default"}, "spec": {}}).ok()
    return f"{REMEDIATIONS}/{name}"


def word(by: str) -> str:
    return f'{{"by":"{by}","at":"2030-01-31T12:00:00Z","nodeUid":"n","bootID":"b"}}'


def attest(api: Api, path: str, by: str) -> Reply:
    return api.merge(path, {"metadata": {"annotations": {ATTESTED: word(by)}}})


def test_only_who_holds_the_verb_may_attest(identities: dict[str, Api]) -> None:
    """An editor of NodeFences may not, and is told which role to ask for; the attester and an administrator may."""
    path = a_fence(identities["admin"])
    refused = attest(identities["editor"], path, "editor")

    assert 403 == refused.status
    assert "node-remedy-attester" in refused.body["message"]
    assert 200 == attest(identities["remediator"], path, "remediator").status


def test_a_word_on_a_metal3remediation_takes_the_verb_too(identities: dict[str, Api]) -> None:
    """Whoever may edit one may not attest on it; the attester may, and everything else is nobody's business here."""
    path = a_remediation(identities["admin"])
    refused = attest(identities["editor"], path, "editor")

    assert 403 == refused.status
    assert "Metal3Remediation machine-" in refused.body["message"]
    assert "verb attest on metal3remediations.remediation.metal3.io" in refused.body["message"]
    assert 403 == attest(identities["remediator"], path, "somebody-else").status
    assert 200 == attest(identities["remediator"], path, "remediator").status
    assert 200 == identities["editor"].merge(path, {"metadata": {"annotations": {"note": "x"}}}).status


def test_nobody_signs_with_another_name(identities: dict[str, Api]) -> None:
    """The word begins with the name of the one who gives it."""
    refused = attest(identities["remediator"], a_fence(identities["admin"]), "somebody-else")

    assert 403 == refused.status
    assert '{"by":"remediator"' in refused.body["message"]


@pytest.mark.parametrize("user", NAMES)
def test_whatever_a_name_is_spelt_with_its_user_may_attest(identities: dict[str, Api], user: str) -> None:
    """The rule expects a name as our own command writes it, and nobody else's beside it."""
    admin = identities["admin"]
    somebody = dataclasses.replace(admin, user=user)
    bind(admin, f"attester-{next(NUMBERS)}", "node-remedy-attester", user)
    eventually(lambda: somebody.get(FENCES).status == 200, "the rights are in force")
    path = a_fence(admin)
    given = attestation_text(Attestation(user, Wall(1_900_000_000_000), "n", "b"))
    other = attestation_text(Attestation(user + "x", Wall(1_900_000_000_000), "n", "b"))

    assert 403 == somebody.merge(path, {"metadata": {"annotations": {ATTESTED: other}}}).status
    assert 200 == somebody.merge(path, {"metadata": {"annotations": {ATTESTED: given}}}).status
    assert user == json.loads(admin.get(path).ok()["metadata"]["annotations"][ATTESTED])["by"]


def test_not_even_the_manager_attests(identities: dict[str, Api]) -> None:
    """A word is a person's."""
    path = a_fence(identities["admin"])

    assert (
        403
        == attest(identities["manager"], path, "system:serviceaccount:node-remedy-system:node-remedy-manager").status
    )


def test_everything_else_of_a_fence_is_nobodys_business_here(identities: dict[str, Api]) -> None:
    """An editor stops a fence and annotates it, also one that carries a word; only the word itself is out of reach."""
    path = a_fence(identities["admin"])
    attest(identities["remediator"], path, "remediator").ok()
    editor = identities["editor"]

    assert 200 == editor.merge(path, {"spec": {"stopped": True}}).status
    assert 200 == editor.merge(path, {"metadata": {"annotations": {"note": "x"}}}).status
    assert 403 == editor.merge(path, {"metadata": {"annotations": {ATTESTED: None}}}).status


def test_a_fence_has_the_name_of_its_node(identities: dict[str, Api]) -> None:
    """The kind itself refuses a second fence of a node under another name, and another node for a fence."""
    admin = identities["admin"]
    wrong = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": "mine"}, "spec": {"node": "w"}}

    assert 422 == admin.create(FENCES, wrong).status
    assert 422 == admin.merge(a_fence(admin), {"spec": {"node": "other"}}).status


def said(plane: ControlPlane, word: str, path: str) -> Answer:
    """What our command answers the viewer."""
    return typed(plane, "viewer", word, path.rpartition("node-fence-")[2])


def test_who_releases_a_node_holds_a_role_for_it(installed_plane: ControlPlane, identities: dict[str, Api]) -> None:
    """The attester may not; whoever has the shipped role stops and releases with our commands, and attests nothing."""
    admin, viewer = identities["admin"], installed_plane.api("viewer")
    bind(admin, "viewer-attests", "node-remedy-attester", "viewer")
    path = a_fence(admin)
    eventually(lambda: viewer.get(path).status == 200, "the rights are in force")
    refused = said(installed_plane, "release", path)
    still = admin.get(path).status
    admin.delete("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/viewer-attests").ok()
    eventually(lambda: viewer.get(path).status == 403, "the rights are taken back")
    bind(admin, "viewer-releases", "node-remedy-releaser", "viewer")
    eventually(lambda: viewer.get(path).status == 200, "the rights are in force")
    stopped = said(installed_plane, "stop", path)
    spec = admin.get(path).ok()["spec"]
    forged = attest(viewer, path, "viewer")
    released = said(installed_plane, "release", path)

    assert (False, 200) == (refused.code == 0, still)
    assert "have this right granted to you" in refused.text
    assert (0, True) == (stopped.code, spec["stopped"]), stopped
    assert 403 == forged.status
    assert (0, 404) == (released.code, admin.get(path).status), released
