"""Amazon's EC2: moto as a proxy that answers in its place, so that the real agent speaks to the real host names.

The agent asks the metadata service which instance it runs on itself, and fences nobody unless that one is running:
outside of EC2, or where a pod may not reach the metadata service, `fence_aws` does nothing. Here a small proxy answers.
"""

from __future__ import annotations

import http.server
import importlib.util
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.devices.device import PASSWORD, Device, answers, needs, wait_for
from tests.e2e.processes import Program, free_port

PROXY = Path(sys.executable).with_name("moto_proxy")
REGION = "us-east-1"


class Ec2(Device):
    agent = "fence_aws"
    secret = "secret_key"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.port = free_port()
        self._program: Program | None = None
        self._metadata: Metadata | None = None
        self.instance = ""

    @property
    def parameters(self) -> dict[str, str]:
        return {"access_key": "AKIABENCH", "region": REGION, "plug": self.instance, "power_wait": "0"}

    @property
    def environ(self) -> Mapping[str, str]:
        """As an administrator would set a proxy and its authority for the manager."""
        assert self._metadata
        there = {
            "https_proxy": f"http://127.0.0.1:{self.port}",
            "http_proxy": f"http://127.0.0.1:{self._metadata.port}",
        }
        return {**os.environ, **there, "AWS_CA_BUNDLE": str(_authority()), "AWS_MAX_ATTEMPTS": "1"}

    def start(self) -> None:
        needs(PROXY, self.agent)
        self._program = Program([PROXY, "-H", "127.0.0.1", "-p", str(self.port)], self.folder / "log")
        wait_for(lambda: answers(self.port), 40)
        made = self._client().run_instances(ImageId="ami-12c6146b", MinCount=2, MaxCount=2)["Instances"]
        self.instance = made[0]["InstanceId"]
        self._metadata = Metadata(made[1]["InstanceId"])

    def stop(self) -> None:
        if self._program:
            self._program.kill()
            self._program = None

    def is_on(self) -> bool:
        found = self._client().describe_instances(InstanceIds=[self.instance])
        return bool(found["Reservations"][0]["Instances"][0]["State"]["Name"] == "running")

    def switch(self, on: bool) -> None:
        act = self._client().start_instances if on else self._client().stop_instances
        act(InstanceIds=[self.instance])

    def _client(self) -> Any:
        boto3 = pytest.importorskip("boto3", reason="missing: boto3 (the extra e2e installs it)")
        config = importlib.import_module("botocore.config").Config(proxies={"https": f"http://127.0.0.1:{self.port}"})
        keys = {"aws_access_key_id": "AKIABENCH", "aws_secret_access_key": PASSWORD}
        return boto3.client("ec2", region_name=REGION, verify=str(_authority()), config=config, **keys)


def _authority() -> Path:
    found = importlib.util.find_spec("moto")
    assert found
    assert found.origin
    return Path(found.origin).parent / "moto_proxy" / "ca.crt"


class Metadata:
    """The metadata service, behind a proxy of its own: it says which instance asks."""

    def __init__(self, instance: str) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                self._say(b"a-token")

            def do_GET(self) -> None:
                self._say(instance.encode() if self.path.endswith("/instance-id") else b"")

            def _say(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
