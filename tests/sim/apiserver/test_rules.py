"""Every rule holds, and every rule was seen to fail: one line taken out of a server makes its rule red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.sim.apiserver.rules import RULES

from noderemedy.sim.apiserver import ApiError, ApiServer


def nothing(*_: Any, **__: Any) -> None:
    return None


SABOTAGES: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "conflicts are not noticed": ("stale_update", "writes.check_version", nothing),
    "versions of patches are ignored": ("stale_patch", "writes.check_version", nothing),
    "leases need no version": ("lease_needs_version", "writes.check_version", nothing),
    "uids of writers are ignored": ("uid_of_update", "writes.check_uid", nothing),
    "preconditions are ignored": ("uid_of_delete", "deletions.check_preconditions", nothing),
    "finalizers are ignored": ("finalizers", "deletions.is_held", lambda resource, tree: False),
    "finalizers hold forever": ("finalizers", "writes.is_free_to_go", lambda tree: False),
    "status leaks": ("status_apart", "writes.separated", lambda resource, old, new, subresource: new),
    "generations stand still": ("generation", "writes.counted", lambda resource, old, new: new),
    "generations count everything": ("generation", "writes.is_wish_changed", lambda resource, old, new: True),
    "custom fields are not pruned": ("pruning", "writes.pruned_custom", lambda new, old, shape, unknown: new),
    "core fields are not pruned": ("core_pruning", "writes.pruned", lambda new, old, shape, unknown: new),
    "schemas are not looked at": ("schema", "writes.schema_causes", lambda new, old, shape: []),
    "defaults are not filled in": ("schema", "writes.defaulted", lambda new, shape: new),
    "nothing is judged": ("names", "writes.judge", nothing),
    "namespaces are not looked at": ("namespace_exists", "writes.check_namespace", nothing),
    "pods get no grace": ("grace", "deletions.grace_of", lambda resource, old, asked: 0),
    "budgets are ignored": ("budget", "evictions.check_budget", nothing),
    "budgets are not counted": ("budget", "budgets.refresh", nothing),
    "garbage stays": ("garbage", "garbage.collect", lambda: 0),
    "owners do not wait": ("foreground", "garbage._blocks", lambda tree, uid: False),
    "selectors are ignored": ("label_selector", "lists.predicate", lambda resource, labels, fields: None),
    "the past is never gone": ("gone", "store.check_remembered", nothing),
    "pages show the present": ("pages", "lists._moment", lambda query, token, limit: -1),
    "hooks are not asked": ("hooks", "admission.check", nothing),
    "renewals are not stored": ("renewal", "writes.renew", lambda resource, old, part, value, options: old),
    "renewals ask nobody": ("renewal", "admission.check", nothing),
    "everybody may": ("authorizer", "rest.authorize", nothing),
}
"""What is broken: the rule that notices, the method that is replaced, and by what."""


NOTICED = (AssertionError, pytest.fail.Exception, ApiError, KeyError)


def break_it(server: ApiServer, where: str, replacement: Callable[..., Any]) -> None:
    part, _, method = where.partition(".")
    owner = getattr(server, part)
    assert callable(getattr(owner, method))
    setattr(owner, method, replacement)


@pytest.mark.parametrize("name", RULES)
def test_rule(name: str, server: ApiServer) -> None:
    """The rule of this name holds on a fresh server."""
    RULES[name](server)


@pytest.mark.parametrize("sabotage", SABOTAGES)
def test_sabotage_is_noticed(sabotage: str, server: ApiServer) -> None:
    """A server with one rule taken out is noticed by the rule's own test."""
    rule, where, replacement = SABOTAGES[sabotage]
    break_it(server, where, replacement)
    with pytest.raises(NOTICED):
        RULES[rule](server)
