"""The rights on requests: put together by label, bound to the manager, and no more than a request needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from noderemedy import crds
from noderemedy.manager.importing import checks

ROOT = Path(__file__).parents[2]
LABEL = {"node-remedy.dev/aggregate-to-manager": "true"}


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / "deploy" / "rbac" / "40-requests.yaml").read_text(encoding="utf-8")))


def example_of_the_guide() -> dict[str, Any]:
    """The role that a vendor is told to ship."""
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/guide/templates.md").read_text(encoding="utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if "kind: ClusterRole" in block]
    return dict(yaml.safe_load(found))


def test_roles_are_put_together_by_their_label() -> None:
    """The manager's role selects what the shipped ones, and the one in the guide, carry; it grants nothing itself."""
    role, binding, *shipped = documents()

    assert [{"matchLabels": LABEL}] == role["aggregationRule"]["clusterRoleSelectors"]
    assert "rules" not in role
    assert role["metadata"]["name"] == binding["roleRef"]["name"]
    assert ["node-remedy-manager"] == [subject["name"] for subject in binding["subjects"]]
    for vendor in (*shipped, example_of_the_guide()):
        assert vendor["metadata"]["labels"].items() >= LABEL.items()


def test_a_vendors_role_is_as_small_as_can_be() -> None:
    """Requests are read, made and deleted, never changed; templates are read one by one."""
    for vendor in (*documents()[2:], example_of_the_guide()):
        requests, templates = vendor["rules"]
        assert ["create", "delete", "get", "list", "watch"] == sorted(requests["verbs"])
        assert ["get"] == templates["verbs"]
        assert not any("*" in rule[part] for rule in vendor["rules"] for part in ("apiGroups", "resources", "verbs"))


def granted() -> list[tuple[str, str]]:
    """Group and plural of what the shipped roles speak of."""
    rules = [rule for role in documents()[2:] for rule in role["rules"]]
    return sorted((group, one) for rule in rules for group in rule["apiGroups"] for one in rule["resources"])


def test_every_template_kind_that_we_know_has_its_role() -> None:
    """What we define a template for, and Metal3's own: requests from it can be made, and its templates read."""
    kinds = [(tree["spec"]["group"], tree["spec"]["names"]["plural"]) for tree in crds.every()]
    templates = [(group, name) for group, name in kinds if name.endswith("remediationtemplates")]
    templates.append(("infrastructure.cluster.x-k8s.io", "metal3remediationtemplates"))

    assert 3 == len(templates)
    assert sorted([*templates, *((group, name.replace("templates", "s")) for group, name in templates)]) == granted()


def test_import_knows_what_is_granted() -> None:
    """`import`, which has no deploy/ beside it, asks for a role where none of these is, and for no other."""
    assert granted() == sorted(
        pair
        for kind in checks.GRANTED
        for pair in ((kind.group, checks.plural(kind.kind)), (kind.group, checks.plural(f"{kind.kind}Template")))
    )


def test_the_role_is_installed_with_the_rest() -> None:
    """By the one command of the guide."""
    listed = yaml.safe_load((ROOT / "deploy" / "kustomization.yaml").read_text(encoding="utf-8"))

    assert "rbac/40-requests.yaml" in listed["resources"]
