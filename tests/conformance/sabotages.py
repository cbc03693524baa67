"""One sabotage per group of cases: a server broken in one function, which that group must notice.

Each entry replaces one function of one ApiServer by something wrong, in one line. `test_sabotage.py` runs the
group's cases against the broken server and demands that at least one fails: a case that cannot fail shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace as changed

from noderemedy.sim.apiserver.mergepatch import merge
from noderemedy.sim.apiserver.server import ApiServer

Sabotage = Callable[[ApiServer], None]


def put(part: Any, name: str, function: Callable[..., Any]) -> None:
    """Replace a function of one part of a server; it must exist, or the sabotage has become a lie."""
    assert callable(getattr(part, name)), name
    setattr(part, name, function)


SABOTAGES: dict[str, Sabotage] = {
    # Discovery forgets every kind.
    "discovery": lambda api: put(api.resources, "all", list),
    # Generated names are all the same.
    "create": lambda api: put(api.stamps, "suffix", lambda: "aaaaa"),
    # Reading answers the first object of the kind, whatever its name.
    "read": lambda api: put(api.rest, "stored", lambda call: api.list(call.route.resource.kind)[0]),
    # Limits are ignored: there are no pages.
    "listing": lambda api: put(api.lists, "_limit", lambda query: 0),
    # Selectors let everything through.
    "selectors": lambda api: put(api.lists, "predicate", lambda resource, labels, fields: None),
    # Stale writers win.
    "update": lambda api: put(api.writes, "check_version", lambda *_: None),
    # Only the top level is merged.
    "mergepatch": lambda api: put(api.patches, "patched", lambda _, old, body, __: {**old, **body}),
    # JSON patches change nothing.
    "jsonpatch": lambda api: put(api.patches, "patched", lambda _, old, body, __: old),
    # Strategic patches are taken for merge patches.
    "strategicpatch": lambda api: put(api.patches, "patched", lambda _, old, body, __: merge(old, body)),
    # All appliers are taken for the same one.
    "apply": lambda api: put(api.patches, "_apply", _as_one_applier(api)),
    # Both doors write both spec and status.
    "status": lambda api: put(api.writes, "separated", lambda resource, old, new, subresource: new),
    # Preconditions of deletions are not looked at.
    "delete": lambda api: put(api.deletions, "check_preconditions", lambda *_: None),
    # Finalizers do not let go.
    "finalizers": lambda api: put(api.writes, "is_free_to_go", lambda tree: False),
    # Garbage stays.
    "garbage": lambda api: put(api.garbage, "collect", lambda: 0),
    # A watch does not catch up with what happened before it began.
    "watch": lambda api: put(api.watches, "changes_since", lambda *_: []),
    # Nothing is ever too old.
    "bookmarks": lambda api: put(api.store, "check_remembered", lambda revision: None),
    # Schemas are not enforced.
    "customkinds": lambda api: put(api.writes, "schema_causes", lambda new, old, shape: []),
    # Exhausted budgets let pods go.
    "eviction": lambda api: put(api.evictions, "check_budget", lambda budget: None),
    # Dry runs are real.
    "dryrun": lambda api: put(api.writes, "commit", _really(api)),
    # The Accept header is ignored.
    "tables": lambda api: put(api, "handle", lambda request, user, _, agent: api.rest.handle(request, user, "", agent)),
    # Unknown methods are taken for reading.
    "errors": lambda api: put(api.rest, "verb_of", lambda call: "get"),
    # Whatever is written is valid.
    "events": lambda api: put(api.writes, "judge", lambda *_: None),
    # Everybody may do everything.
    "access": lambda api: put(api.rest, "authorize", lambda call, verb: None),
}


def _as_one_applier(api: ApiServer) -> Callable[..., Any]:
    apply = api.patches._apply
    return lambda resource, key, old, body, options: apply(resource, key, old, body, changed(options, manager="one"))


def _really(api: ApiServer) -> Callable[..., Any]:
    commit = api.writes.commit
    return lambda resource, key, old, new, options: commit(resource, key, old, new, changed(options, dry_run=False))
