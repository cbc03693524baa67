"""OpenStack: a stub of Keystone and Nova at `auth_url`, as much of them as the real agent asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.devices.device import PASSWORD, needs
from tests.devices.web import Answer, Question, WebDevice

SERVER = "9e3a1f6c-0000-4000-8000-000000000001"


class Nova(WebDevice):
    agent = "fence_openstack"
    token_header = "X-Auth-Token"

    @property
    def parameters(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.port}/v3"
        return {"auth-url": url, "username": "admin", "plug": SERVER, "apitimeout": "5", "power_wait": "0"}

    def start(self) -> None:
        needs(self.agent)
        if not Path("/usr/lib/python3/dist-packages/novaclient").exists():
            pytest.skip("missing: python3-novaclient (scripts/e2e-packages installs it)")
        super().start()

    def answer(self, question: Question) -> Answer:
        path = question.path
        here = f"http://127.0.0.1:{self.port}"
        if path == "/v3":
            links = [{"rel": "self", "href": f"{here}/v3/"}]
            return Answer(200, {"version": {"id": "v3.14", "status": "stable", "links": links}})
        if path == "/v3/auth/tokens":
            return self._log_in(json.loads(question.body), here)
        if question.token != "a-token":
            return Answer(401, {"error": {"code": 401, "title": "Unauthorized", "message": "no"}})
        if path in ("/v2.1", ""):
            links = [{"rel": "self", "href": f"{here}/v2.1/"}]
            version = {"id": "v2.1", "status": "CURRENT", "version": "2.90", "min_version": "2.1", "links": links}
            return Answer(200, {"version": version, "versions": [version]})
        if path == f"/v2.1/servers/{SERVER}/action":
            self._is_on = "os-start" in json.loads(question.body)
            return Answer(202, {})
        if path == f"/v2.1/servers/{SERVER}":
            state = "ACTIVE" if self._is_on else "SHUTOFF"
            return Answer(200, {"server": {"id": SERVER, "name": "worker-0", "status": state, "links": []}})
        return Answer(404, {"itemNotFound": {"code": 404, "message": path}})

    def _log_in(self, body: dict[str, Any], here: str) -> Answer:
        if body["auth"]["identity"]["password"]["user"]["password"] != PASSWORD:
            refused = {"code": 401, "title": "Unauthorized", "message": "authentication is required"}
            return Answer(401, {"error": refused})
        endpoint = {"interface": "public", "region": "R", "region_id": "R", "url": f"{here}/v2.1", "id": "e"}
        catalog = [{"type": "compute", "name": "nova", "id": "c", "endpoints": [endpoint]}]
        times = {"issued_at": "2026-01-01T00:00:00.000000Z", "expires_at": "2099-01-01T00:00:00.000000Z"}
        user = {"id": "u", "name": "admin", "domain": {"id": "default", "name": "Default"}}
        told = {"methods": ["password"], "user": user, "catalog": catalog, "roles": [], **times}
        project = {"project": {"id": "p", "name": "admin", "domain": {"id": "default", "name": "Default"}}}
        return Answer(201, {"token": {**told, **project}}, {"X-Subject-Token": "a-token"})
