"""Asks a device who it is: the UUID of the machine that it switches. Called for drills; most devices do not tell.

A BMC by IPMI tells its GUID (`ipmitool mc guid`), Redfish the UUID of the system. What goes wrong here is no failure of
the drill: the device answered, and does not say who it is. Rule: passwords go through an environment or a header, never
through arguments, and nothing follows a redirect with them. ipmitool takes the name of its user as an argument only: it
is among those of the agent, too, which has just been asked, and not to know whose BMC it is would be worse.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import re
import shutil
import signal
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from noderemedy.model.agent import IPMI_AGENTS, REDFISH

PATIENCE_S = 15.0
ANSWER_MAX = 1024 * 1024
GUID = re.compile(r"System GUID\s*:\s*([0-9a-fA-F-]{32,36})")
TRUE = ("1", "yes", "on", "true")
LANPLUS = ("fence_ipmilanplus", "fence_ilo3", "fence_ilo4", "fence_ilo5")  # which speak nothing else


async def identify(agent: str, values: Mapping[str, str]) -> str:
    """The identifier that the device tells; "" if it tells none. `values` are all parameters, secrets included."""
    ask = ASKED.get(agent)
    if ask is None:
        return ""
    with suppress(OSError, ValueError, KeyError, TypeError, TimeoutError, http.client.HTTPException):
        return await asyncio.wait_for(ask(agent, values), PATIENCE_S)
    return ""


async def by_ipmi(agent: str, values: Mapping[str, str]) -> str:
    program = shutil.which("ipmitool")
    if program is None:
        return ""
    is_plus = agent in LANPLUS or values.get("lanplus", "").lower() in TRUE
    arguments = ["-I", "lanplus" if is_plus else "lan", "-H", values["ip"], "-p", values.get("ipport", "623"), "-E"]
    arguments += ["-U", values["username"]] if "username" in values else []
    arguments += ["-C", values["cipher"]] if "cipher" in values else []
    environ = {"PATH": os.environ.get("PATH", ""), "IPMI_PASSWORD": values.get("password", "")}
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        "mc",
        "guid",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )
    try:
        printed, _ = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    found = GUID.search(printed.decode("utf-8", "replace"))
    return found[1] if found else ""


async def by_redfish(agent: str, values: Mapping[str, str]) -> str:
    return await asyncio.to_thread(_system_uuid, values)


def _system_uuid(values: Mapping[str, str]) -> str:
    found = _get(values, values["systems_uri"]).get("UUID")
    return found if isinstance(found, str) else ""


def _get(values: Mapping[str, str], path: str) -> dict[str, Any]:
    context = ssl.create_default_context()
    if values.get("ssl_insecure", "").lower() in TRUE:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    port = int(values.get("ipport", "443"))
    connection = http.client.HTTPSConnection(values["ip"], port, timeout=PATIENCE_S / 2, context=context)
    words = base64.b64encode(f"{values.get('username', '')}:{values.get('password', '')}".encode()).decode()
    try:
        connection.request("GET", path, headers={"Authorization": f"Basic {words}", "Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read(ANSWER_MAX)
    finally:
        connection.close()
    found = json.loads(body) if answer.status == 200 else {}
    return found if isinstance(found, dict) else {}


ASKED: dict[str, Callable[[str, Mapping[str, str]], Awaitable[str]]] = {
    **dict.fromkeys(IPMI_AGENTS, by_ipmi),
    REDFISH: by_redfish,
}
