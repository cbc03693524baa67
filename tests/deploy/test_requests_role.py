"""The rights on requests: put together by label, bound to the manager, and no more than a request needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from noderemedy import crds

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


def test_every_template_kind_of_ours_has_its_role() -> None:
    """What we define a template for, a check may name: its requests can be made and its templates read."""
    names = [tree["spec"]["names"]["plural"] for tree in crds.every()]
    templates = [name for name in names if name.endswith("remediationtemplates")]
    granted = [resource for role in documents()[2:] for rule in role["rules"] for resource in rule["resources"]]

    assert ["fenceremediationtemplates", "metal3remediationtemplates"] == sorted(templates)
    assert sorted([*templates, *(name.replace("templates", "s") for name in templates)]) == sorted(granted)


def test_the_role_is_installed_with_the_rest() -> None:
    """By the one command of the guide."""
    listed = yaml.safe_load((ROOT / "deploy" / "kustomization.yaml").read_text(encoding="utf-8"))

    assert "rbac/40-requests.yaml" in listed["resources"]
