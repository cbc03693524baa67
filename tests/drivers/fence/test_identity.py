"""Who a device says it is: asked over real connections and processes; what does not tell is no failure."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.builders import NODE_AT, NOW, a_node
from tests.core.fencing.fences import an_agent
from tests.drivers.fence.scripted import hand, install
from tests.drivers.kube import scripted

from noderemedy.core.fencing import drills
from noderemedy.drivers.fence import identity
from noderemedy.drivers.fence.identity import identify
from noderemedy.drivers.fence.verify import carry_out
from noderemedy.lab.http_tls import Authority, server_context
from noderemedy.model.run import Run, RunState
from noderemedy.model.time import Mono

UUID = "4c4c4544-0042-3510-8053-b4c04f4e3132"
SYSTEMS: dict[str, Any] = {
    "/redfish/v1/Systems": {"Members": [{"@odata.id": "/redfish/v1/Systems/7"}]},
    "/redfish/v1/Systems/7": {"UUID": UUID},
    "/redfish/v1/Systems/8": {"Name": "tells nothing"},
    "/redfish/v1/Systems/9": [],
}


@pytest.fixture(scope="module")
def serving() -> ssl.SSLContext:
    """A certificate of an authority that nobody knows."""
    return server_context(Authority("devices").server(), None)


def redfish(context: ssl.SSLContext, **values: str) -> str:
    """What a service of a few lines, over TLS, makes of these parameters."""

    async def answer(request: web.Request) -> web.StreamResponse:
        expected = base64.b64encode(b"admin:hunter2").decode()
        if request.headers.get("Authorization") != f"Basic {expected}":
            return web.json_response({}, status=401)
        if request.path.endswith("/elsewhere"):
            raise web.HTTPFound("/redfish/v1/Systems/7")
        return web.json_response(SYSTEMS[request.path]) if request.path in SYSTEMS else web.Response(status=404)

    async def story() -> str:
        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        port = runner.addresses[0][1]
        given = {
            "ip": "127.0.0.1",
            "ipport": str(port),
            "username": "admin",
            "password": "hunter2",
            "ssl_insecure": "1",
            "systems_uri": "/redfish/v1/Systems/7",
        }
        try:
            return await identify("fence_redfish", {**given, **values})
        finally:
            await runner.cleanup()

    return asyncio.run(story())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"systems_uri": "/redfish/v1/Systems/7"}, UUID),
        ({"systems_uri": ""}, ""),
        ({"systems_uri": "/redfish/v1/Systems/8"}, ""),
        ({"systems_uri": "/redfish/v1/Systems/9"}, ""),
        ({"systems_uri": "/none"}, ""),
        ({"systems_uri": "/elsewhere"}, ""),
        ({"password": "wrong"}, ""),
        ({"ssl_insecure": "0"}, ""),
        ({"ipport": "many"}, ""),
        ({"ip": "127.0.0.1", "ipport": "1"}, ""),
    ],
    ids=["named", "not named", "no UUID", "garbage", "missing", "a redirect", "credentials", "TLS", "port", "away"],
)
def test_a_redfish_service_tells_the_uuid(values: Mapping[str, str], expected: str, serving: ssl.SSLContext) -> None:
    """Of the system that the method names; nothing else is worth a failure."""
    assert expected == redfish(serving, **values)


IPMITOOL = """#!/bin/sh
echo "$@" > {folder}/arguments
[ "$IPMI_PASSWORD" = hunter2 ] || exit 1
echo "System GUID  : {uuid}"
"""


@pytest.mark.parametrize(
    ("agent", "password", "expected"),
    [("fence_ipmilan", "hunter2", UUID), ("fence_ilo4", "hunter2", UUID), ("fence_ipmilan", "wrong", "")],
)
def test_a_bmc_tells_its_guid(
    agent: str, password: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through ipmitool, whose arguments hold no password; the name of its user it takes in no other way."""
    program = tmp_path / "ipmitool"
    program.write_text(IPMITOOL.format(folder=tmp_path, uuid=UUID))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    values = {"ip": "192.0.2.7", "username": "admin", "password": password}
    assert expected == asyncio.run(identify(agent, values))
    arguments = (tmp_path / "arguments").read_text().split()
    way = "lanplus" if agent == "fence_ilo4" else "lan"
    assert ["-I", way, "-H", "192.0.2.7", "-p", "623", "-E", "-U", "admin", "mc", "guid"] == arguments


@pytest.mark.parametrize(
    ("own", "word"), [(UUID, ""), ("11111111-2222-3333-4444-555555555555", "WrongDevice")], ids=["its own", "another's"]
)
def test_a_drill_finds_whose_bmc_it_is(own: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the order of a drill to its finding: the agent answers, and what the BMC tells of itself is held against
    the node.
    """
    install(tmp_path, "well", "fence_ipmilan")
    program = tmp_path / "ipmitool"
    program.write_text(IPMITOOL.format(folder=tmp_path, uuid=UUID))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    node, method = replace(a_node(), system_uuid=own), an_agent("bmc", parameters=(("ip", "192.0.2.7"),))

    order = drills.order_for(method, NODE_AT, node, NOW.wall, NOW.wall)
    told = asyncio.run(carry_out(order, {"password": "hunter2"}, hand(tmp_path)))

    found = drills.judge(method, NODE_AT, node, Run(order.id, told.state).ended(told, Mono(0)))
    assert (RunState.DONE, UUID, word) == (told.state, told.identity, found.word)


def test_an_ipmitool_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all that it started."""
    program = tmp_path / "ipmitool"
    program.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(identity, "PATIENCE_S", 0.5)

    async def story() -> None:
        assert "" == await identify("fence_ipmilan", {"ip": "192.0.2.7"})
        child = Path("/proc") / (tmp_path / "child").read_text().strip()
        await scripted.until(lambda: not child.exists() or ") Z" in (child / "stat").read_text())

    scripted.run(story())


def test_most_devices_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PDU knows its outlets, not what is behind them; and ipmitool may not be there."""
    monkeypatch.setenv("PATH", "/nowhere")

    assert ["", ""] == [asyncio.run(identify(agent, {"ip": "a"})) for agent in ("fence_apc", "fence_ipmilan")]


def test_who_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A drill of a thousand nodes does not wait for one."""

    async def hang(agent: str, values: Mapping[str, str]) -> str:
        await asyncio.sleep(60)
        return ""

    monkeypatch.setattr(identity, "PATIENCE_S", 0.05)
    monkeypatch.setitem(identity.ASKED, "fence_x", hang)

    async def story() -> None:
        assert "" == await identify("fence_x", {})

    scripted.run(story())
