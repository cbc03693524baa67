"""The real sender of crash kernels, and the real agent that waits for it, against our listener."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from tests.drivers.kube import scripted

from noderemedy.drivers.kdump import listen

SENDERS = ("/usr/libexec/fence-agents/fence_kdump_send", "/usr/lib/fence-agents/fence_kdump_send")


def sender() -> str:
    found = next((path for path in SENDERS if Path(path).exists()), shutil.which("fence_kdump_send"))
    if not found:
        pytest.skip("missing: fence_kdump_send (scripts/e2e-packages installs it)")
    return found


def test_the_real_message_is_recognised() -> None:
    """What the crash kernel's own program sends arrives, with its address."""
    program = sender()

    async def story() -> None:
        heard: list[str] = []
        transport = await listen("127.0.0.1", 0, heard.append)
        port = transport.get_extra_info("sockname")[1]
        sending = await asyncio.create_subprocess_exec(program, "-p", str(port), "-c", "1", "-i", "1", "127.0.0.1")
        await scripted.until(lambda: bool(heard))
        await sending.wait()
        transport.close()
        assert ["127.0.0.1"] == heard

    scripted.run(story())


def test_the_real_agent_accepts_what_we_accept() -> None:
    """`fence_kdump` succeeds on the same eight bytes: we read its protocol as it does."""
    program = sender()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = f"action=off\nnodename=127.0.0.1\nipport={port}\nfamily=ipv4\ntimeout=10\n"
    with subprocess.Popen(["/usr/sbin/fence_kdump"], stdin=subprocess.PIPE, text=True) as agent:
        assert agent.stdin
        agent.stdin.write(given)
        agent.stdin.close()
        subprocess.run([program, "-p", str(port), "-c", "3", "-i", "1", "127.0.0.1"], check=True, timeout=20)
        assert 0 == agent.wait(timeout=15)
