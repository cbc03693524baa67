"""Would host-power work? Told by what the API shows of a node's BareMetalHost; no device is asked. Pure.

Called by the drill room and by `node-remedy drill`. The BMC of such a host is its operator's: what it last found
(status, credentials, power) is what a fence would rely on, and it is as old as the operator's last look.
"""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.core.fencing.drills import Finding
from noderemedy.core.fencing.hosts import NO_HOST, HostSeen
from noderemedy.core.fencing.view import host_of
from noderemedy.model.drill import WRONG_DEVICE, host_identity
from noderemedy.model.fenceplan import Builtin, BuiltinMethod, FencePlan, Step
from noderemedy.model.host import Host, Login, Power
from noderemedy.model.ids import Ref
from noderemedy.model.node import Node
from noderemedy.model.room import Reader

OPERATOR = "baremetalhost.metal3.io"
LOGINS = {
    Login.REFUSED: "has credentials that its BMC did not accept",
    Login.UNTOLD: "does not say that its BMC accepted its credentials",
}
# What keeps its operator from powering a host off, with the remedy. The first row that fits is told.
TROUBLES: tuple[tuple[Callable[[Host], bool], Callable[[Host], str]], ...] = (
    (lambda host: host.deleting, lambda host: "is being deleted; use another method"),
    (lambda host: host.paused, lambda host: f"is paused; remove its annotation {OPERATOR}/paused"),
    (lambda host: host.detached, lambda host: f"is detached; remove its annotation {OPERATOR}/detached"),
    (lambda host: host.power_off_disabled, lambda host: "may not be powered off; remove spec.disablePowerOff"),
    (lambda host: not host.online, lambda host: "is to be off; set spec.online to true"),
    (lambda host: host.status != "OK", lambda host: f"is {host.status or 'of no status'}, not OK{because(host)}"),
    (
        lambda host: bool(host.unsettled),
        lambda host: f"{host.unsettled}; wait until that is over, or use another method",
    ),
    (lambda host: host.login is not Login.ACCEPTED, lambda host: f"{LOGINS[host.login]}; {secret_of(host)}"),
    (lambda host: host.power is Power.UNKNOWN, lambda host: "does not say whether it is on; look at its operator"),
)


def method_of(plan: FencePlan) -> BuiltinMethod | None:
    """The method of a plan that switches through the BareMetalHost."""
    found = (one for step in Step for one in plan.methods(step) if isinstance(one, BuiltinMethod))
    return next((one for one in found if one.builtin is Builtin.HOST_POWER), None)


def see(node_at: Ref, plan: FencePlan, reader: Reader) -> HostSeen:
    """The host of a node, where its plan needs one."""
    return host_of(node_at, reader) if method_of(plan) else NO_HOST


def judge(method: BuiltinMethod, at: Ref, node: Node, seen: HostSeen) -> Finding:
    """What the API says against this method; nothing is wrong without a word."""
    where, host = f"node {at.name}, method {method.name}", seen.host
    device = host_identity(seen.at)
    if seen.is_of_another:
        why = "the Machine that names it has another providerID than its Node; correct the mapping"
        return Finding(method.name, WRONG_DEVICE, f"{where}: {why}", device)
    if host is None or not seen.is_own:
        remedy = "correct the mapping, or use a fence agent"
        why = f"its Machine names no BareMetalHost that is there and names it back; {remedy}"
        return Finding(method.name, "HostNotReady", f"{where}: {why}", device)
    name = name_of(seen)
    if why := next((words(host) for is_so, words in TROUBLES if is_so(host)), ""):
        return Finding(method.name, "HostNotReady", f"{where}: {name} {why}", device)
    if host.power is Power.OFF and node.is_heard and not host.is_held:  # who holds it looks himself
        why = f"{name} says off, and the node reports: this is not its host; correct the mapping"
        return Finding(method.name, WRONG_DEVICE, f"{where}: {why}", device)
    return Finding(method.name, device=device, is_fitting=node.is_heard and host.power is Power.ON)


def name_of(seen: HostSeen) -> str:
    return f"BareMetalHost {seen.at.namespace}/{seen.at.name}" if seen.at else "BareMetalHost"


def by_the_api(seen: HostSeen) -> str:
    """How it is known that nothing is wrong: nobody may think that somebody asked."""
    return f"{name_of(seen)} is well by what the API shows; its BMC was not asked"


def because(host: Host) -> str:
    return f" ({host.error}); look at its operator" if host.error else "; look at its operator"


def secret_of(host: Host) -> str:
    return f"look at Secret {host.login_secret}" if host.login_secret else "name a Secret in spec.bmc.credentialsName"
