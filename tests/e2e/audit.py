"""Who asked the API server for what, written down by the server itself: its audit log.

The strictest witness of a scenario: a write that no object shows any more, and a request that was refused, are in it
too. Only the identities under test are recorded, and only the metadata of their requests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

READING = ("get", "list", "watch")
ACCOUNT = "system:serviceaccount:node-remedy-system:node-remedy-manager"
RECORDED = (ACCOUNT, "viewer")


@dataclass(frozen=True)
class Asked:
    """One request: when it came in, for what, and the status that was answered."""

    at: float
    user: str
    verb: str
    resource: str
    name: str
    status: int

    @property
    def did(self) -> str:
        """What it did, for comparing: `patch machines`."""
        return f"{self.verb} {self.resource}"


def write_policy(folder: Path) -> Path:
    """The audit policy; JSON is YAML."""
    path = folder / "audit-policy.json"
    rules = [{"level": "Metadata", "users": list(RECORDED)}, {"level": "None"}]
    head = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"]}
    path.write_text(json.dumps({**head, "rules": rules}))
    return path


def asked(log: Path, user: str = ACCOUNT) -> list[Asked]:
    """All finished requests of one identity, in the order in which they came in."""
    lines = log.read_text().splitlines() if log.exists() else []
    found = [json.loads(line) for line in lines if line.endswith("}")]
    made = [
        Asked(
            at=datetime.fromisoformat(one["requestReceivedTimestamp"]).timestamp(),
            user=one["user"]["username"],
            verb=one["verb"],
            resource=one["objectRef"]["resource"],
            name=one["objectRef"].get("name", ""),
            status=one.get("responseStatus", {}).get("code", 0),
        )
        for one in found
        if one["user"]["username"] == user and "objectRef" in one
    ]
    return sorted(made, key=lambda one: one.at)


def writes(log: Path, name: str | None = None, user: str = ACCOUNT) -> list[Asked]:
    """The requests that could change something, Leases and Events apart; of one object name or of all."""
    return [
        one
        for one in asked(log, user)
        if one.verb not in READING and one.resource not in ("leases", "events") and name in (None, one.name)
    ]


def done(log: Path, name: str, user: str = ACCOUNT) -> list[str]:
    """The writes on objects of this name that succeeded, as `verb resource`."""
    return [one.did for one in writes(log, name, user) if one.status < 300]


def steps(log: Path, name: str) -> list[str]:
    """The same step by step: the hold of a host and what is noted beside it (its node was still heard) are one."""
    made = done(log, name)
    return [did for did, before in zip(made, [None, *made], strict=False) if did != before]
