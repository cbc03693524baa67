"""What the exit codes and the words of a fence agent mean. Pure: `drivers/fence/` runs agents and asks here.

Rule 1: a deed counts as done only if the device, asked twice afterwards, says what it should. Exit code 0 of the
        deed alone proves nothing (races R31, R35).
        An agent that calls off what is not there is asked for its list as well (`scopes.LISTED`).
Rule 2: no end within the patience is a failure, never a success.
Rule 3: a message names node, method and agent, and the parameters to look at; neither it nor a log ever holds what a
        secret says.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from noderemedy.core.fencing.redaction import redact
from noderemedy.core.fencing.scopes import LISTED
from noderemedy.model.ids import SYSTEM
from noderemedy.model.run import Deed, Order, Power, Result, RunState
from noderemedy.model.time import Span

EXPECTED = {Deed.OFF: Power.OFF, Deed.ON: Power.ON}
STATUS_SAYS = {0: Power.ON, 2: Power.OFF}  # exit codes of `status`; all others: nobody knows
NOT_BEGUN = "not begun"
LIST = "list"  # the action that names all outlets of a device
SAID_MAX = 400
# Where its Job told nothing, by whether it uses disks: a policy that refuses its pod shows in the events of the Job
# alone.
LOOK_AT = {
    False: "look at its pod and events",
    True: f"look at its events: namespace {SYSTEM} must admit privileged pods (pod-security.kubernetes.io/enforce)",
}
LOOKS = 2  # how often the device is asked after a deed
BETWEEN_LOOKS = Span.seconds(2)
# A line of an agent that may say why it failed; the last such line is shown.
_TELLING = re.compile(
    r"fail|error|unable|unauthori[sz]ed|denied|refused|invalid|missing|unknown|timed? ?out|cannot|can't|could not"
    r"|not found|no such|required|wrong|incorrect|unreachable",
    re.IGNORECASE,
)
_ADVICE = re.compile(r"please use '?-h", re.IGNORECASE)  # of agents to whoever types their options
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffd]")
# What a device hands out for a while is no secret that we know, and opens it all the same.
# Nobody's credential is in "does not have authorization to perform action …".
_CREDENTIAL = re.compile(
    r"""authorization["']?\s*([:=,]|basic|bearer)|cookie|token|session[-_ ]?(id|key)""", re.IGNORECASE
)
WITHHELD = "(a line that may hold a credential is not shown)"
_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ")


class Trouble(Enum):
    """Why an agent has no exit code."""

    NONE = ""
    TOO_LONG = "did not end in time and was ended"
    NOT_STARTED = "could not be started"


class Ended(Struct, frozen=True):
    """How one process of an agent ended, and what it printed (bounded, and not yet free of secrets)."""

    exit_code: int | None = None
    output: str = ""
    trouble: Trouble = Trouble.NONE
    why: str = ""  # of not starting

    @property
    def power(self) -> Power:
        """What `status` said."""
        return STATUS_SAYS.get(self.exit_code, Power.UNKNOWN) if self.exit_code is not None else Power.UNKNOWN


LOGIN = ("username", "login", "password", "passwd", "access_key", "secret_key", "community", "identity_file", "privlvl")
# Which parameters to look at, by what the agent says. The first row that fits is shown.
HINTS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (
        re.compile(
            r"login|logon|password|passphrase|authenti|authori[sz]|credential|denied|40[13]|privilege|rakp|community"
            r"|unable to establish|wrong user|signature",
            re.IGNORECASE,
        ),
        (
            "username",
            "login",
            "password",
            "passwd",
            "secret_key",
            "access_key",
            "community",
            "identity_file",
            "privlvl",
        ),
    ),
    (
        re.compile(
            r"connect|resolve|unreachable|timed? ?out|timeout|no route|name or service|endpoint|no response|ssl|certif",
            re.IGNORECASE,
        ),
        (
            "ip",
            "ipaddr",
            "ipport",
            "auth_url",
            "auth-url",
            "region",
            "ssl_insecure",
            "community",
        ),  # SNMP refuses by silence
    ),
    (
        re.compile(r"plug|port|outlet|instance|system|no such (host|server|vm)|not found|uuid", re.IGNORECASE),
        ("plug", "port", "systems_uri", "nodename", "key", "devices"),
    ),
)
# What to look at when its words tell nothing. Some agents say the same of a wrong password and of a wrong outlet.
USUAL = ("ip", "ipaddr", "auth-url", "auth_url", "region", "plug", "port", "systems_uri", "devices", "nodename", *LOGIN)
# What says which device is meant: to look at when it answers, and does not do what it says.
WHICH = ("plug", "port", "systems_uri", "nodename", "key", "devices", "ip", "ipaddr", "ipport")
WORDLESS = re.compile(r"correct plug status|plug is not available|powerstate", re.IGNORECASE)


def gist(output: str) -> str:
    """The one line that tells most, short and printable, and holds no credential; "" if there is none."""
    lines = [_PREFIX.sub("", _CONTROL.sub(" ", line)).strip() for line in output.splitlines()]
    lines = [line for line in lines if line and not _ADVICE.search(line)]
    telling = [line for line in lines if _TELLING.search(line)] or lines[-1:]
    shown = [line for line in telling if not _CREDENTIAL.search(line)]
    chosen = (shown or ([WITHHELD] if telling else [""]))[-1]
    return chosen if len(chosen) <= SAID_MAX else f"{chosen[: SAID_MAX - 1]}…"


def transcript(action: str, ended: Ended, secrets: tuple[str, ...]) -> str:
    """All that one process printed, for the log of a Job: printable, without secrets, and without what it was given."""
    how = f"exit code {ended.exit_code}" if ended.trouble is Trouble.NONE else f"{ended.trouble.value} {ended.why}"
    lines = (_CONTROL.sub(" ", line) for line in redact(ended.output, secrets).splitlines())
    shown = (WITHHELD if _CREDENTIAL.search(line) else line for line in lines if line.strip())
    return "".join(f"{line}\n" for line in (f"{action}: {how.strip()}", *(f"  {line}" for line in shown)))


def hint(order: Order, words: str) -> str:
    """The parameters of this order that have to do with what the agent says."""
    rows = [parameters for pattern, parameters in HINTS if pattern.search(words) and not WORDLESS.search(words)]
    return next((told for parameters in (*rows, USUAL) if (told := look_at(order, parameters))), "")


def look_at(order: Order, parameters: tuple[str, ...]) -> str:
    """Those of these parameters that the order has, by name; "" if it has none."""
    held = {
        secret.parameter: f"{secret.parameter} (secret {secret.secret}, key {secret.key})" for secret in order.secrets
    }
    named = {name: name for name, _ in order.parameters} | held
    there = [named[name] for name in parameters if name in named]
    return f"; look at {'parameter' if len(there) == 1 else 'parameters'} {', '.join(there)}" if there else ""


def subject(order: Order) -> str:
    """How every message about a run begins."""
    return f"node {order.node}, method {order.method} ({order.agent})"


def about(order: Order, result: Result) -> Result:
    """The result as that of this order, whoever told it: a pod that died knows neither node nor method."""
    is_told = subject(order) in result.said
    return result if is_told else replace(result, said=f"{subject(order)}: {result.said}")


def failed(order: Order, what: str, power: Power = Power.UNKNOWN) -> Result:
    return Result(RunState.FAILED, power, f"{subject(order)}: {what}")


def not_begun(order: Order, why: str) -> Result:
    """Nothing was sent to the device: whoever judges by the power of a node may go by these first words."""
    return Result(RunState.FAILED, said=f"{NOT_BEGUN}: {subject(order)}: {why}")


def out_of_place(order: Order) -> Result:
    """It has a place to run, and no process of a manager is there."""
    return not_begun(order, f"has to run on node {order.bound_to}; run the manager with --agents job")


def untold(order: Order) -> Result:
    """All the time of its Job is over, and nobody knows more."""
    return failed(order, f"its Job told no result in all its time; {LOOK_AT[bool(order.bound_to)]}")


def complaint(order: Order, action: str, ended: Ended, secrets: tuple[str, ...]) -> str:
    """What went wrong with one process, in one sentence."""
    words = gist(redact(ended.output, secrets))
    told = f": {words}" if words else ""
    match ended.trouble:
        case Trouble.NOT_STARTED:
            return f"{action} {ended.trouble.value}: {ended.why}"
        case Trouble.TOO_LONG:
            why = f"{action} {ended.trouble.value} ({order.patience} for the whole run){told}"
            look = hint(order, "timeout")
            return f"{why}{look}{', or' if look else ';'} give it more time by timeout="
        case Trouble.NONE:
            return f"{action} failed with exit code {ended.exit_code}{told}{hint(order, words)}"


def needs_list(order: Order) -> bool:
    """Whether what this agent calls off has to be in its list."""
    return order.agent in LISTED


def doubt(order: Order, listed: Ended | None, secrets: tuple[str, ...]) -> str:
    """Why "off" of this agent is not believed; "" if it is."""
    if not needs_list(order):
        return ""
    ended = listed or Ended(trouble=Trouble.NOT_STARTED, why="nobody asked for it")
    why = unlisted(order, ended.output) if ended.exit_code == 0 else complaint(order, LIST, ended, secrets)
    return f"{order.agent} calls off what is not there, and {why}" if why else ""


def unlisted(order: Order, printed: str) -> str:
    """Why the list does not show the plug of this order; "" if it does. A line is PLUG,NAME."""
    values = dict(order.parameters)
    plug, separator = values.get("plug", ""), values.get("separator") or ","
    listed = [line.partition(separator)[0].strip() for line in printed.splitlines() if separator in line]
    return "" if plug in listed and plug else f"its list has no {plug}; correct plug="


def of_status(order: Order, ended: Ended, secrets: tuple[str, ...], listed: Ended | None = None) -> Result:
    """The result of a run that only asks. Where somebody asked for a list, it must have the plug though it is on."""
    if ended.power is Power.UNKNOWN:
        return failed(order, complaint(order, Deed.STATUS.value, ended, secrets))
    is_to_be_listed = ended.power is Power.OFF or listed is not None
    if is_to_be_listed and (why := doubt(order, listed, secrets)):
        return failed(order, f"the device says {ended.power.value}, but {why}")
    return Result(RunState.DONE, ended.power, f"{subject(order)}: the device says {ended.power.value}")


def is_so(seen: tuple[Power, ...], wanted: Power) -> bool:
    """Whether the device said often enough what it should, and nothing else."""
    return len(seen) >= LOOKS and all(power is wanted for power in seen)


def of_deed(
    order: Order, deed: Ended, looks: tuple[Ended, ...], secrets: tuple[str, ...], listed: Ended | None = None
) -> Result:
    """The result of a run that switched something, by the deed and by what the device said afterwards."""
    if deed.trouble is Trouble.NOT_STARTED:
        return not_begun(order, complaint(order, order.deed.value, deed, secrets))
    if deed.exit_code != 0:
        return failed(order, complaint(order, order.deed.value, deed, secrets))
    wanted = EXPECTED[order.deed]
    seen = tuple(look.power for look in looks)
    if is_so(seen, wanted):
        if wanted is Power.OFF and (why := doubt(order, listed, secrets)):
            return failed(order, f"the device says off, but {why}")
        times = "twice" if len(seen) == LOOKS else f"{len(seen)} times"
        return Result(RunState.DONE, wanted, f"{subject(order)}: {order.deed.value}, and the device says so {times}")
    for look in looks:
        if look.power is Power.UNKNOWN:
            said = complaint(order, Deed.STATUS.value, look, secrets)
            return failed(order, f"the agent says that {order.deed.value} succeeded, but nobody can verify it: {said}")
    last = seen[-1] if seen else Power.UNKNOWN
    which = look_at(order, WHICH)
    if wanted in seen:
        then = f"the device said {wanted.value} after {order.deed.value}, and {last.value} a moment later"
        return failed(order, f"{then}{which}{', and' if which else '; look'} at what else switches it", last)
    what = f"the agent says that {order.deed.value} succeeded, but the device says {last.value}"
    return failed(order, f"{what}{which}", last)
