"""A BareMetalHost: its power, who consumes it, and who holds it off."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from noderemedy.model.meta import Malformed
from noderemedy.model.time import Wall


class Power(Enum):
    """Three-valued on purpose: unknown is not off."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


class Consumer(Struct, frozen=True):
    """The object that `spec.consumerRef` names."""

    kind: str
    namespace: str
    name: str
    group: str = ""


class Hold(Struct, frozen=True):
    """The record beside our reboot annotation: for whom the host is held off, since when, by which leader."""

    machine_uid: str
    since: Wall
    node_uid: str = ""
    boot_id: str = ""
    token: int = 0


class Host(Struct, frozen=True):
    """A bare-metal host as the baremetal operator describes it."""

    uid: str
    online: bool = True
    power: Power = Power.UNKNOWN
    held: bool = False
    hold: Hold | Malformed | None = None
    consumer: Consumer | None = None
    paused: bool = False
    detached: bool = False
    power_off_disabled: bool = False
    error: str = ""
    deleting: bool = False
