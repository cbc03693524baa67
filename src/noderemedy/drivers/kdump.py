"""Listens for messages of crash kernels (UDP, port 7410 by custom), and passes on who sent one. Only where asked for.

Rule 1: whatever is not that message costs a comparison, and nothing more.
Rule 2: a sender is passed on once a second at most, and all senders together a hundred times: a flood wakes nobody.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Callable

from noderemedy.wire.kdump import is_dump

PORT = 7410
EACH_S = 1.0
PER_SECOND = 100
SENDERS_MAX = 4096


class Listener(asyncio.DatagramProtocol):
    """One socket."""

    def __init__(self, heard: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._heard = heard
        self._clock = clock
        self._last: dict[str, float] = {}
        self._second = 0
        self._count = 0

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if is_dump(data) and self._is_due(addr[0]):
            self._heard(plain(addr[0]))

    def error_received(self, exc: Exception) -> None:
        """What the network says about packets that we never sent concerns nobody."""

    def _is_due(self, sender: str) -> bool:
        now = self._clock()
        if now - self._last.get(sender, -EACH_S) < EACH_S:
            return False
        if int(now) != self._second:
            self._second, self._count = int(now), 0
        self._count += 1
        if self._count > PER_SECOND:
            return False
        if len(self._last) >= SENDERS_MAX:
            self._last.clear()
        self._last[sender] = now
        return True


def plain(address: str) -> str:
    """An address as the API writes it: without a zone, and not as IPv4 inside of IPv6."""
    found = ipaddress.ip_address(address.partition("%")[0])
    inner = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(inner or found)


async def listen(host: str, port: int, heard: Callable[[str], None]) -> asyncio.DatagramTransport:
    """Listen until the transport is closed. Raises OSError."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Listener(heard), local_addr=(host, port))
    return transport
