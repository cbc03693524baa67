"""vSphere: a stub of a vCenter's REST API over TLS, as much of it as the real agent asks for."""

from __future__ import annotations

import base64
from urllib.parse import parse_qs, urlsplit

from tests.devices.device import PASSWORD, needs
from tests.devices.web import Answer, Question, WebDevice

NAME = "worker-0"
LOGIN = f"Basic {base64.b64encode(f'fencer:{PASSWORD}'.encode()).decode()}"
POWER = "/rest/vcenter/vm/vm-17/power"
REFUSED = Answer(401, {"value": {"messages": [{"default_message": "Authentication required."}]}})


class Vcenter(WebDevice):
    """Credentials and the name of an instance are all that its agent needs."""

    agent = "fence_vmware_rest"
    is_secure = True
    token_header = "vmware-api-session-id"
    is_suspended = False  # its memory is kept, and runs on when it is started
    is_resumed = False

    @property
    def parameters(self) -> dict[str, str]:
        # The agent knows no way to name an authority.
        there = {"ip": "127.0.0.1", "ipport": str(self.port), "ssl_insecure": "1"}
        return {**there, "username": "fencer", "plug": NAME, "power_wait": "0"}

    def start(self) -> None:
        needs(self.agent)
        super().start()

    def answer(self, question: Question) -> Answer:
        there = urlsplit(question.path)
        if there.path == "/rest/com/vmware/cis/session":
            return Answer(200, {"value": "a-session"}) if question.login == LOGIN else REFUSED
        if question.token != "a-session":
            return REFUSED
        if (question.verb, there.path) == ("GET", "/rest/vcenter/vm"):
            asked = parse_qs(there.query).get("filter.names", [NAME])
            return Answer(200, {"value": [self._machine()] if NAME in asked else []})
        if question.verb == "POST" and there.path in (f"{POWER}/start", f"{POWER}/stop"):
            self._is_on = there.path.endswith("start")
            self.is_resumed, self.is_suspended = self.is_suspended and self._is_on, False
            return Answer(200, {})
        return Answer(404, {"value": {"messages": [{"default_message": there.path}]}})

    def _machine(self) -> dict[str, str]:
        state = "SUSPENDED" if self.is_suspended else "POWERED_ON" if self._is_on else "POWERED_OFF"
        return {"vm": "vm-17", "name": NAME, "power_state": state}
