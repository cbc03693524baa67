"""OpenStack: a stub of Keystone and Nova at `auth_url`, as much of them as the real agent asks for."""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.devices.device import PASSWORD, Device, needs

SERVER = "9e3a1f6c-0000-4000-8000-000000000001"


class Nova(Device):
    agent = "fence_openstack"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._is_on = True
        self._server: http.server.ThreadingHTTPServer | None = None
        self.port = 0

    @property
    def parameters(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.port}/v3"
        return {"auth-url": url, "username": "admin", "plug": SERVER, "apitimeout": "5", "power_wait": "0"}

    def start(self) -> None:
        needs(self.agent)
        if not Path("/usr/lib/python3/dist-packages/novaclient").exists():
            pytest.skip("missing: python3-novaclient (scripts/e2e-packages installs it)")
        device = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                device.answer(self, "")

            def do_POST(self) -> None:
                device.answer(self, self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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

    def answer(self, request: http.server.BaseHTTPRequestHandler, body: str) -> None:
        status, told, headers = self._judge(request.path.rstrip("/"), body, request.headers.get("X-Auth-Token", ""))
        text = json.dumps(told).encode()
        request.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(text))}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text)

    def _judge(self, path: str, body: str, token: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        here = f"http://127.0.0.1:{self.port}"
        if path == "/v3":
            links = [{"rel": "self", "href": f"{here}/v3/"}]
            return 200, {"version": {"id": "v3.14", "status": "stable", "links": links}}, {}
        if path == "/v3/auth/tokens":
            return self._log_in(json.loads(body), here)
        if token != "a-token":
            return 401, {"error": {"code": 401, "title": "Unauthorized", "message": "no"}}, {}
        if path in ("/v2.1", ""):
            links = [{"rel": "self", "href": f"{here}/v2.1/"}]
            version = {"id": "v2.1", "status": "CURRENT", "version": "2.90", "min_version": "2.1", "links": links}
            return 200, {"version": version, "versions": [version]}, {}
        if path == f"/v2.1/servers/{SERVER}/action":
            self._is_on = "os-start" in json.loads(body)
            return 202, {}, {}
        if path == f"/v2.1/servers/{SERVER}":
            state = "ACTIVE" if self._is_on else "SHUTOFF"
            return 200, {"server": {"id": SERVER, "name": "worker-0", "status": state, "links": []}}, {}
        return 404, {"itemNotFound": {"code": 404, "message": path}}, {}

    def _log_in(self, body: dict[str, Any], here: str) -> tuple[int, dict[str, Any], dict[str, str]]:
        if body["auth"]["identity"]["password"]["user"]["password"] != PASSWORD:
            refused = {
                "code": 401,
                "title": "Unauthorized",
                "message": "authentication is required",
            }
            return 401, {"error": refused}, {}
        endpoint = {"interface": "public", "region": "R", "region_id": "R", "url": f"{here}/v2.1", "id": "e"}
        catalog = [{"type": "compute", "name": "nova", "id": "c", "endpoints": [endpoint]}]
        times = {"issued_at": "2026-01-01T00:00:00.000000Z", "expires_at": "2099-01-01T00:00:00.000000Z"}
        user = {"id": "u", "name": "admin", "domain": {"id": "default", "name": "Default"}}
        told = {"methods": ["password"], "user": user, "catalog": catalog, "roles": [], **times}
        project = {"project": {"id": "p", "name": "admin", "domain": {"id": "default", "name": "Default"}}}
        return 201, {"token": {**told, **project}}, {"X-Subject-Token": "a-token"}
