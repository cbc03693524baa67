"""The simulated and the real API server get the same random requests and must give the same answers.

What may differ is taken out before comparing: uids, versions, times, the words of refusals, and who owns which field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from random import Random
from typing import Any

import pytest
from tests.conformance.client import Client, Site
from tests.conformance.objects import widgets
from tests.conformance.requests import NAMES, TYPES, a_step
from tests.conformance.sabotages import SABOTAGES
from tests.conformance.simulated import a_server, simulated_site
from tests.conformance.stream import Event

pytestmark = pytest.mark.e2e

STEPS = 30
SEEDS = range(30)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(scope="module")
def simulated() -> Iterator[Site]:
    with simulated_site(a_server()) as site:
        yield site


def comparable(value: Any, namespace: str) -> Any:
    """An answer without what may differ."""
    if isinstance(value, dict):
        if value.get("kind") == "Status" and value.get("status") == "Failure":
            causes = value.get("details", {}).get("causes", [])
            found = sorted({(cause.get("reason", ""), cause.get("field", "")) for cause in causes})
            return value.get("reason"), found
        return {
            key: "…" if key in ("uid", "resourceVersion") else comparable(one, namespace)
            for key, one in value.items()
            if key != "managedFields" and not (key == "continue" and not one)
        }
    if isinstance(value, list):
        return [comparable(one, namespace) for one in value]
    return TIME.sub("TIME", value).replace(namespace, "NAMESPACE") if isinstance(value, str) else value


def difference(seed: int, plural: str, first: Site, second: Site) -> str:
    """The first step at which two servers part, or "" if they never do."""
    chance = Random(seed)
    clients = (first.client(), second.client())
    if plural == "widgets":
        for api in clients:
            widgets(api)
    begun = [api.get(api.at(plural)).ok()["metadata"]["resourceVersion"] for api in clients]
    try:
        for number in range(STEPS):
            step = a_step(chance, plural)
            replies = [step.send(api) for api in clients]
            seen = [
                (reply.status, comparable(reply.json, api.namespace))
                for reply, api in zip(replies, clients, strict=True)
                if reply.text.startswith("{")
            ]
            if len(seen) == 1 or seen[:1] != seen[1:]:
                return f"seed {seed}, step {number}: {step.said}\n" + "\n".join(str(one) for one in seen)
        return watched_alike(seed, plural, clients, begun)
    finally:
        for api in clients:
            for name in NAMES:
                api.patch(api.at(plural, name), {"metadata": {"finalizers": None}})
            api.finish()


def watched_alike(seed: int, plural: str, clients: tuple[Client, Client], begun: list[str]) -> str:
    """The first event that differs, or ""."""
    first, second = (told(api, plural, version) for api, version in zip(clients, begun, strict=True))
    for number, (one, other) in enumerate(zip_longest(first, second)):
        if one != other:
            return f"seed {seed}, event {number}:\n{one}\n{other}"
    return ""


def told(api: Client, plural: str, version: str) -> list[Event]:
    """All events about our objects since a version; one more object marks the end."""
    api_version, kind = TYPES[plural]
    spec = {"size": 1} if plural == "widgets" else {}
    api.create(plural, {"apiVersion": api_version, "kind": kind, "metadata": {"name": "end"}, "spec": spec})
    stream = api.watch(api.at(plural), resourceVersion=version)
    events = []
    while (event := stream.next())["object"]["metadata"]["name"] != "end":
        if event["object"]["metadata"]["name"] in NAMES:
            events.append(comparable(event, api.namespace))
    return events


@pytest.mark.parametrize("seed", SEEDS)
def test_both_answer_alike(seed: int, simulated: Site, real: Site) -> None:
    """Thirty random requests and a watch over them are answered alike by both servers."""
    plural = list(TYPES)[seed % len(TYPES)]
    assert "" == difference(seed, plural, real, simulated)


@pytest.mark.parametrize("group", ["update", "mergepatch", "apply", "finalizers", "dryrun"])
def test_a_sabotage_is_noticed(group: str, real: Site) -> None:
    """Random requests tell a sabotaged server from the real one."""
    api = a_server()
    SABOTAGES[group](api)
    with simulated_site(api, patience=3) as sabotaged:
        assert any(difference(seed, list(TYPES)[seed % len(TYPES)], real, sabotaged) for seed in SEEDS)
