"""Metadata of agents that nobody sells: one for each way in which fence agents describe themselves."""

from __future__ import annotations

from noderemedy.model.agent import AgentDescription
from noderemedy.wire.fenceagent import read_metadata

ACTIONS = '<action name="off"/><action name="status"/><action name="monitor"/><action name="metadata"/>'


def parameter(name: str, sort: str = "string", more: str = "", default: str | None = None, options: str = "") -> str:
    preset = f' default="{default}"' if default is not None else ""
    choices = "".join(f'<option value="{one}"/>' for one in options.split())
    return (
        f'<parameter name="{name}" unique="0" {more}><getopt mixed="--{name}"/>'
        f'<content type="{sort}"{preset}>{choices}</content><shortdesc lang="en">About {name}</shortdesc></parameter>'
    )


def metadata(name: str, parameters: str, actions: str) -> str:
    head = f'<?xml version="1.0" ?>\n<resource-agent name="{name}" shortdesc="Invented {name}">'
    return f"{head}<parameters>{parameters}</parameters><actions>{actions}</actions></resource-agent>"


COMMON = (
    parameter("action", more='required="1"', default="reboot")
    + parameter("ip", more='required="1" obsoletes="ipaddr"')
    + parameter("ipaddr", more='required="1" deprecated="1"')
    + parameter("ipport", "integer", default="623")
    + parameter("username", more='required="1" obsoletes="login"')
    + parameter("login", more='required="1" deprecated="1"')
    + parameter("password", more='obsoletes="passwd"')
    + parameter("passwd", more='deprecated="1"')
    + parameter("password_script")
    + parameter("plug", more='required="1" obsoletes="port"')
    + parameter("port", more='required="1" deprecated="1"')
    + parameter("power_timeout", "second", default="20")
    + parameter("lanplus", "boolean", default="0")
    + parameter("method", "select", default="onoff", options="onoff cycle")
    + parameter("debug_file")
    + parameter("rack_path")
    + parameter("missing_as_off", "boolean")
)
PDU = metadata("fence_pdu", COMMON, f'{ACTIONS}<action name="on" automatic="0"/><action name="reboot"/>')
SWITCH = metadata("fence_switch", COMMON, f'{ACTIONS}<action name="on" automatic="0"/>')
DISK = metadata(
    "fence_disk",
    parameter("action", more='required="1"') + parameter("plug", more='required="1"') + parameter("devices"),
    f'{ACTIONS}<action name="on" on_target="1" automatic="1"/>',
)
MUTE = metadata("fence_mute", COMMON, '<action name="off"/><action name="on"/><action name="reboot"/>')
CLOUD = metadata(
    "fence_aws",
    parameter("plug", more='required="1" obsoletes="port"')
    + parameter("region")
    + parameter("access_key")
    + parameter("secret_key"),
    f'{ACTIONS}<action name="on"/><action name="reboot"/>',
)
AGENTS: dict[str, AgentDescription] = {
    name: read_metadata(name, text)
    for name, text in {
        "fence_pdu": PDU,
        "fence_switch": SWITCH,
        "fence_disk": DISK,
        "fence_mute": MUTE,
        "fence_aws": CLOUD,
    }.items()
}
