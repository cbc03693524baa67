"""The seed's fabric switch: a shell of a few commands behind a telnet login."""

from __future__ import annotations

import contextlib
import re
import socketserver
import threading
from pathlib import Path

from tests.devices.device import PASSWORD, Device, needs

PORTS = 4
NEGOTIATION = re.compile(rb"\xff[\xfb-\xfe].", re.DOTALL)  # options that a telnet client asks for
PROMPT = "switch:admin> "


class Brocade(Device):
    agent = "fence_brocade"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.enabled = [True] * PORTS
        self._server: socketserver.ThreadingTCPServer | None = None
        self.port = 0

    @property
    def parameters(self) -> dict[str, str]:
        there = {"ip": "127.0.0.1", "ipport": str(self.port), "username": "admin", "plug": "2"}
        return {**there, "login_timeout": "3", "power_timeout": "8", "power_wait": "0"}

    def start(self) -> None:
        needs("telnet", self.agent)
        device = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    device.serve(self)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def is_on(self) -> bool:
        return self.enabled[2]

    def switch(self, on: bool) -> None:
        self.enabled[2] = on

    def serve(self, session: socketserver.StreamRequestHandler) -> None:
        """One session: login, then one command a line."""

        def ask(words: str) -> str:
            session.wfile.write(words.encode())
            line = NEGOTIATION.sub(b"", session.rfile.readline())
            return line.decode(errors="replace").strip("\r\n\0 ")

        while not (ask("login: ") == "admin" and ask("Password: ") == PASSWORD):
            session.wfile.write(b"\r\nLogin incorrect\r\n")
        while (line := ask(PROMPT)) != "exit":
            session.wfile.write(self._do(line.split()).replace("\n", "\r\n").encode())

    def _do(self, words: list[str]) -> str:
        match words:
            case ["switchshow"]:
                return self._show()
            case ["portCfgPersistentEnable" | "portCfgPersistentDisable" as command, number]:
                self.enabled[int(number)] = command.endswith("Enable")
        return ""

    def _show(self) -> str:
        head = "switchName:  switch\nIndex Port Address Media Speed State     Proto\n" + "=" * 46 + "\n"
        states = ["Online   FC  F-Port  10:00" if one else "No_Light FC Disabled (Persistent)" for one in self.enabled]
        rows = [f"{number:4} {number:4}  010{number}00   id    N8  {state}" for number, state in enumerate(states)]
        return head + "\n".join(rows)
