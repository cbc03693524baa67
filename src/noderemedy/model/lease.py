"""A Lease of our own namespace: who repairs a node. Renewals are left out: they are heartbeats."""

from __future__ import annotations

from msgspec import Struct


class Lease(Struct, frozen=True):
    """Who holds what the Lease is about."""

    uid: str
    holder: str = ""
    acquired: str = ""  # when, as written: it differs from claim to claim
