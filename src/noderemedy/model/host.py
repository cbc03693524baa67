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


class Login(Enum):
    """Whether the BMC took the credentials of the host, as far as its operator tells."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # those that were tried last, or that it has now, are not those that were accepted
    UNTOLD = "untold"


class MarkName(Enum):
    """The names of the mark that keeps a host from being chosen: a provider reads one of them, by its release."""

    CURRENT = "current"
    BEFORE = "before"  # of all releases until the beginning of 2026


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
    owner: str = ""  # the Metal3Remediation that it is for, namespace/name
    was_on: bool = True  # what the host said when it was held: "off" is news only if it was on
    off_at: Wall | None = None  # first seen off while its node was still heard, which is the one named above then
    contradicted_at: Wall | None = None  # that node reported, booted or registered all the same
    on_at: Wall | None = None  # on again after that, held as it was, while that node was silent: it may boot


# In these states alone the operator follows holds, and reads the power of a host again and again.
SETTLED = ("provisioned", "externally provisioned")
SERVICING = "servicing"  # it brings firmware up to date, and switches a held host on for that


class Host(Struct, frozen=True):
    """A bare-metal host as the baremetal operator describes it."""

    uid: str
    online: bool = True
    power: Power = Power.UNKNOWN
    held: bool = False
    hold: Hold | Malformed | None = None
    held_for: tuple[tuple[str, Hold | Malformed | None], ...] = ()  # holds for Metal3Remediations, by their uid
    fenced_for: tuple[tuple[str, Hold | Malformed | None], ...] = ()  # the same for NodeFences
    consumer: Consumer | None = None
    paused: bool = False
    detached: bool = False
    power_off_disabled: bool = False
    status: str = ""  # the operator's word: "OK" if all is well
    login: Login = Login.UNTOLD
    login_secret: str = ""  # the Secret of its credentials
    error: str = ""
    deleting: bool = False
    unhealthy: tuple[tuple[MarkName, str], ...] = ()  # marks that keep it from being chosen, each with who set it
    externally_provisioned: bool = False  # somebody else installed it: no provider gives it to a new machine
    state: str = SETTLED[0]  # of its provisioning
    soft_reboot: str = ""  # the key of somebody's request to shut it down softly: it is called off while it does so

    @property
    def unsettled(self) -> str:
        """Why its operator may neither follow a hold nor know its power; "": it does both."""
        if self.deleting:
            return "is being deleted"
        if self.status == SERVICING:
            return "is being serviced"
        return "" if self.state in SETTLED else f"is in state {self.state or 'unknown'}"

    @property
    def is_held(self) -> bool:
        """Whether any repair of ours holds it."""
        return self.held or bool(self.held_for or self.fenced_for)

    def is_held_besides(self, owner: str) -> bool:
        """Whether another repair of ours holds it; `owner` is the uid of the one who asks, "" for the truth table."""
        others = [uid for uid, _ in (*self.held_for, *self.fenced_for) if uid != owner]
        return bool(others) or (self.held and owner != "")

    def holds_of(self, uid: str) -> tuple[Hold | Malformed | None, ...]:
        """The hold for this Metal3Remediation or NodeFence: its record, or nothing at all."""
        return tuple(record for owner, record in (*self.held_for, *self.fenced_for) if owner == uid)
