"""Whether the Secrets that fence methods name are there, with the keys that they need. Called by `check`; pure.

What a Secret says is looked at and never repeated. In files a Secret may well be missing: nobody keeps it there.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from noderemedy.core.fencing.agents import TO_FILL
from noderemedy.manager.check import Finding, document_at
from noderemedy.manager.plan import Look, kind_of, named
from noderemedy.manager.sources import Source
from noderemedy.model.fenceplan import FENCE_PLAN, FencePlan
from noderemedy.model.ids import SYSTEM, Kind, Ref
from noderemedy.model.room import Present

SECRET = Kind("", "Secret")
Known = Mapping[str, Mapping[str, str] | str]  # texts by key; a word: why it cannot be read. Not in it: not there


class Use(Struct, frozen=True, order=True):
    """A parameter of a method whose value is in a Secret."""

    at: Ref  # the ConfigMap
    method: str
    parameter: str
    secret: str
    key: str
    is_optional: bool


def uses(look: Look) -> list[Use]:
    """Of all plans, each once however many nodes share it."""
    cache = look.engine.cache
    plans = [entry.obj for at in cache.refs_of(FENCE_PLAN) if isinstance(entry := cache.read(at), Present)]
    return sorted({one for plan in plans for one in of_plan(plan, document_at(plan.source, cache))})


def of_plan(plan: FencePlan, at: Ref) -> Iterable[Use]:
    for method in plan.agent_methods:
        for one in method.secrets:
            yield Use(at, method.name, one.parameter, one.secret, one.key, one.is_optional)


def of_secrets(used: Iterable[Use], known: Known, *, are_all: bool) -> list[Finding]:
    """What is wrong with them. `are_all`: a Secret that is not known is not there."""
    found: dict[Finding, None] = {}
    for use in used:
        secret = known.get(use.secret)
        if secret is None:
            remedy = "create it" if are_all else "make sure that it is in the cluster"
            told = f"method {use.method}: Secret {SYSTEM}/{use.secret} is not there; {remedy}"
            found[Finding(use.at, told, is_note=not are_all)] = None
        elif isinstance(secret, str):
            found[Finding(use.at, f"method {use.method}: {secret}", is_note=True)] = None
        elif problem := wrong(use, secret.get(use.key)):
            told = f"method {use.method}: parameter {use.parameter}: Secret {SYSTEM}/{use.secret}, key {use.key}"
            found[Finding(use.at, f"{told}: {problem}")] = None
    return list(found)


def wrong(use: Use, value: str | None) -> str:
    if value is None:
        return "" if use.is_optional else "it is not there, or no text; add it"
    if not value.strip():
        return "it is empty; fill it"
    return "it is still to be filled in" if TO_FILL.fullmatch(value.strip()) else ""


def in_files(sources: Iterable[Source]) -> dict[str, dict[str, str]]:
    """The Secrets of our namespace that are among the files."""
    found: dict[str, dict[str, str]] = {}
    for tree in (one.tree for one in sources if kind_of(one.tree) == SECRET):
        namespace, name = named(tree)
        if namespace in ("", SYSTEM):
            found[name] = texts(tree)
    return found


def texts(tree: dict[str, Any]) -> dict[str, str]:
    """As the API server would have them: `stringData` over `data`."""
    data, plain = tree.get("data"), tree.get("stringData")
    coded = data.items() if isinstance(data, dict) else ()
    said = plain if isinstance(plain, dict) else {}
    return {**{key: text for key, value in coded if (text := decoded(value)) is not None}, **strings(said)}


def strings(tree: dict[str, Any]) -> dict[str, str]:
    return {key: value for key, value in tree.items() if isinstance(value, str)}


def decoded(value: Any) -> str | None:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError, TypeError):
        return None
