"""What all devices of this bench have in common: an agent, its parameters, one secret, and a switch behind its back.

A device is started in a folder of its own, on loopback, and ended with its test. Where a program that it needs is
missing, the test is skipped and the summary names the program.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.core.fencing.orders import an_order

from noderemedy.drivers.fence import agents
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.model.run import Deed, Result, SecretParameter
from noderemedy.model.time import Span

PASSWORD = "hunter2-bench"  # IPMI knows 16 letters, no more
WRONG = "not-hunter3"


class Device(ABC):
    """One device with one plug, to which worker-0 belongs."""

    agent: str
    between_looks = Span.seconds(1)
    takes_to_come_on_s = 0  # after the button was pressed
    returns_after_s = 0.5  # so long after the plug went off the agent itself has seen it off
    secret = "password"  # the parameter whose value is in a Secret

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    @abstractmethod
    def parameters(self) -> dict[str, str]:
        """All but the secret."""

    @abstractmethod
    def start(self) -> None: ...

    @abstractmethod
    def stop(self) -> None:
        """The device is away from now on."""

    @abstractmethod
    def is_on(self) -> bool:
        """The truth, not what the device says."""

    @abstractmethod
    def switch(self, on: bool) -> None:
        """Somebody presses the button."""

    @property
    def environ(self) -> Mapping[str, str]:
        return os.environ

    def run(self, deed: Deed, *, secret: str = PASSWORD, patience_s: float = 60, **changes: str) -> Result:
        """One order, as the manager would carry it out."""
        order = an_order(
            deed,
            agent=self.agent,
            method="power",
            parameters=tuple(sorted({**self.parameters, **changes}.items())),
            secrets=(SecretParameter(self.secret, "bmc-worker-0", self.secret),),
            patience=Span.seconds(patience_s),
        )
        hand = Hand(agents.folders("", os.environ), self.environ, self.between_looks)
        return asyncio.run(carry_out(order, {self.secret: secret}, hand))

    def _is_seen_off(self) -> bool:
        try:
            return not self.is_on()
        except OSError:
            return False  # busy: look again

    def _is_pressed(self) -> bool:
        try:
            self.switch(True)
        except OSError:
            return False
        return True

    def turns_on_by_itself(self) -> threading.Thread:
        """Somebody switches it on again, a moment after it went off."""

        def wait_and_switch() -> None:
            wait_for(self._is_seen_off, 60)
            time.sleep(self.returns_after_s)
            wait_for(self._is_pressed, 10)

        thread = threading.Thread(target=wait_and_switch, daemon=True)
        thread.start()
        return thread


def wait_for(is_so: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def needs(*programs: str | Path) -> None:
    """Skip, by name, where a program is missing."""
    usual = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [str(Path(one).name) for one in programs if shutil.which(str(one), path=usual) is None]
    if missing:
        pytest.skip(f"missing: {', '.join(missing)} (scripts/e2e-packages and the extra e2e install them)")
