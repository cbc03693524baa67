"""A device of a cloud: a server of ours that speaks as much of its API as the real agent asks for."""

from __future__ import annotations

import http.server
import json
import ssl
import threading
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.devices.device import Device

from noderemedy.lab.http_tls import Authority


class Question(NamedTuple):
    """What an agent sent."""

    verb: str
    path: str  # without a slash at its end
    body: str
    token: str
    login: str


class Answer(NamedTuple):
    status: int
    told: dict[str, Any]
    headers: Mapping[str, str] = MappingProxyType({})


class WebDevice(Device):
    """Switched through HTTP, or HTTPS where `is_secure`."""

    is_secure = False
    token_header: str

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._is_on = True
        self._server: http.server.ThreadingHTTPServer | None = None
        self.port = 0

    @abstractmethod
    def answer(self, question: Question) -> Answer: ...

    def start(self) -> None:
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        if self.is_secure:
            self._server.socket = self._context().wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def is_on(self) -> bool:
        return self._is_on

    def switch(self, on: bool) -> None:
        self._is_on = on

    def _context(self) -> ssl.SSLContext:
        pair = Authority("devices").server()
        (self.folder / "pair").write_bytes(pair.certificate + pair.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "pair")
        return context


def _handler(device: WebDevice) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
            token, login = self.headers.get(device.token_header, ""), self.headers.get("Authorization", "")
            status, told, headers = device.answer(Question(self.command, self.path.rstrip("/"), body, token, login))
            text = json.dumps(told).encode()
            self.send_response(status)
            for name, value in {
                **headers,
                "Content-Type": "application/json",
                "Content-Length": str(len(text)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_DELETE = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler
