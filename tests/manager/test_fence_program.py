"""A whole fence in a real manager: ConfigMaps, an agent that is a process, runs, proof, freeing. Simulated: the API."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from tests.builders import NODE_AT, a_node_tree
from tests.drivers.fence.scripted import DEVICE, HEAD, asked
from tests.drivers.kube import scripted
from tests.manager.bench import SYSTEM, Bench, bench, until
from tests.wire.agents import PDU

from noderemedy.core.fencing import gates, wellness
from noderemedy.model.ids import NODE, NODE_FENCE, Kind
from noderemedy.model.time import Span

PASSWORD = "hunter2 & co"
METHOD = "agent=fence_pdu\nip=192.0.2.7\nusername=admin\nplug=1\npassword=secret:bmc/password\ntimeout=20\n"
STEPS = "node_name=worker-0\nisolation=mark-unschedulable\npower_management=pdu\nrecovery=mark-schedulable\n"


def install(folder: Path, described: str = PDU) -> None:
    """An agent that describes itself, whose device is a file."""
    path = folder / "fence_pdu"
    metadata = f"if [ \"$p_action\" = metadata ]; then cat <<'END'\n{described}\nEND\nexit 0; fi\n"
    path.write_text(HEAD.format(folder=folder) + metadata + DEVICE)
    path.chmod(0o755)


def an_object(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": SYSTEM}, **more}


def populate(it: Bench) -> None:
    """A node that is not heard any more, others that are, and how the first one is fenced."""
    silent = [{"type": "Ready", "status": "Unknown", "lastTransitionTime": "2020-01-01T00:00:00Z"}]
    tree = a_node_tree()
    it.create({**tree, "status": {**tree["status"], "conditions": silent}})
    for number in range(4):
        other = a_node_tree()
        it.create({**other, "metadata": {**other["metadata"], "name": f"well-{number}"}})
    it.create(an_object("Secret", "bmc", data={"password": base64.b64encode(PASSWORD.encode()).decode()}))
    it.create(
        an_object("ConfigMap", "fence-config-worker-0", data={"config.properties": STEPS, "fence-method-pdu": METHOD})
    )
    it.create(
        {
            "apiVersion": "ha.k8s.io/v1",
            "kind": "NodeFence",
            "metadata": {"name": "node-fence-worker-0"},
            "spec": {"node": "worker-0", "powerManagementDelay": "0s", "freeBy": "taint"},
        }
    )


def comes_back(it: Bench) -> None:
    """Power is on: the node boots and reports."""
    node = it.api.get(NODE, NODE_AT.name, "")
    ready = [{"type": "Ready", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}]
    info = {**node["status"]["nodeInfo"], "bootID": "boot-2"}
    it.api.update({**node, "status": {**node["status"], "conditions": ready, "nodeInfo": info}}, subresource="status")


def test_a_fence_from_its_documents_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off, verified, asked once more, freed, on, back and open again; the secret reaches the agent and nobody else."""
    monkeypatch.setattr(gates, "CONTACT", Span(0))
    monkeypatch.setattr(wellness, "HEALTHY_FOR", Span(100))
    install(tmp_path)

    def state(it: Bench) -> str:
        return str(it.api.get(NODE_FENCE, "node-fence-worker-0", "").get("status", {}).get("state", ""))

    async def story() -> None:
        async with bench(tmp_path) as it:
            populate(it)
            manager = it.start(agents_path=str(tmp_path), between_looks=Span(10))
            await until(lambda: "on" in asked(tmp_path), what="it is switched on again")
            assert "TaintOutOfService" in manager.done()
            assert ["off", "status", "status", "status"] == [one for one in asked(tmp_path) if one != "metadata"][:4]
            comes_back(it)
            await until(lambda: state(it) == "final", what="the fence is final")
            node = it.api.get(NODE, NODE_AT.name, "")
            assert not node["spec"].get("unschedulable")
            assert PASSWORD in (tmp_path / "passwords").read_text()
            assert PASSWORD not in str(it.api.get(NODE_FENCE, "node-fence-worker-0", ""))
            assert PASSWORD.encode() not in b"".join(request.body for request in it.writes())
            await manager.end()

    monkeypatch.setattr(scripted, "LIMIT_S", 60.0)
    scripted.run(story())


def test_what_has_to_run_on_a_node_is_refused_where_agents_are_processes(tmp_path: Path) -> None:
    """Nothing is sent to its device: nobody could let the node in again."""
    install(tmp_path, PDU.replace('name="on"', 'name="on" on_target="1"'))

    def told(it: Bench) -> str:
        return str(it.api.list(Kind("events.k8s.io", "Event")))

    async def story() -> None:
        async with bench(tmp_path) as it:
            populate(it)
            manager = it.start(agents_path=str(tmp_path), between_looks=Span(10))
            await until(lambda: "run the manager with --agents job" in told(it), what="the document is refused")
            assert {"metadata"} == set(asked(tmp_path))
            await manager.end()

    scripted.run(story())
