"""The listener for crash kernels: what passes, and how often."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest
from tests.drivers.kube import scripted

from noderemedy.drivers import kdump
from noderemedy.drivers.kdump import Listener, listen, plain

MESSAGE = struct.pack("<II", 0x1B302A40, 1)


class Ticking:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_sender_passes_once_a_second() -> None:
    """More messages of one sender are thrown away, those of others are not."""
    heard: list[str] = []
    clock = Ticking()
    listener = Listener(heard.append, clock)
    for now, sender in [(0.0, "192.0.2.1"), (0.5, "192.0.2.1"), (0.6, "192.0.2.2"), (1.0, "192.0.2.1")]:
        clock.now = 1000.0 + now
        listener.datagram_received(MESSAGE, (sender, 1))

    assert ["192.0.2.1", "192.0.2.2", "192.0.2.1"] == heard


def test_a_flood_wakes_nobody_more_than_a_hundred_times() -> None:
    """However many senders there are, or seem to be; and memory is bounded."""
    heard: list[str] = []
    listener = Listener(heard.append, Ticking())
    for number in range(10_000):
        listener.datagram_received(MESSAGE, (f"10.0.{number // 256}.{number % 256}", 1))

    assert kdump.PER_SECOND == len(heard)
    assert kdump.SENDERS_MAX >= len(listener._last)


def test_garbage_is_nothing() -> None:
    """Anything else than the message is not even counted."""
    heard: list[str] = []
    listener = Listener(heard.append, Ticking())
    for garbage in (b"", b"x" * 8, MESSAGE * 2, MESSAGE[::-1][:7]):
        listener.datagram_received(garbage, ("192.0.2.1", 1))

    assert [] == heard


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::1"),
        ("2001:DB8::1", "2001:db8::1"),
    ],
)
def test_addresses_as_the_api_writes_them(address: str, expected: str) -> None:
    """Without zones, and IPv4 as itself."""
    assert expected == plain(address)


def test_a_real_socket() -> None:
    """A message through loopback arrives with its sender."""

    async def story() -> None:
        heard: list[str] = []
        transport = await listen("127.0.0.1", 0, heard.append)
        port = transport.get_extra_info("sockname")[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(MESSAGE, ("127.0.0.1", port))
        await scripted.until(lambda: bool(heard))
        transport.close()
        await asyncio.sleep(0)
        assert ["127.0.0.1"] == heard

    scripted.run(story())
