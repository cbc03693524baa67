"""The runner: a real process of its own, the simulated API over TLS, a service account in a folder."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builders import a_node_tree
from tests.core.fencing.orders import JOB, ORDER, PASSWORD, STATUS
from tests.drivers.fence import test_files
from tests.drivers.fence.scripted import asked, install
from tests.drivers.kube import scripted

from noderemedy import crds
from noderemedy.core.fencing.credentials import SecretMissing
from noderemedy.lab.http import serve
from noderemedy.model.ids import LEASE, NODE, NODE_FENCE, SYSTEM, ref
from noderemedy.model.run import Deed, Order, Power, Result, RunState, SecretParameter
from noderemedy.model.time import Span, Wall
from noderemedy.runner.program import Surroundings, read_secrets, run
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN
from noderemedy.wire import fenceanswer, fencejobs, nodefences
from noderemedy.wire.fencejobs import LEASES_VARIABLE, ORDER_VARIABLE, SECRETS_VARIABLE

TOKEN = "token-of-the-runner"
Change = Callable[["Pod"], object]


class Pod:
    """What the kubelet would give a runner, and the API server that it asks."""

    def __init__(self, api: ApiServer, folder: Path) -> None:
        self.api = api
        self.folder = folder
        self.order = replace(
            ORDER, agent="fence_scripted", not_after=Wall(1 << 45), patience=Span.seconds(20), fence_uid="", node_uid=""
        )
        self.environ: dict[str, str] = {}

    def populate(self) -> None:
        tree = a_node_tree()
        meta = {key: value for key, value in tree["metadata"].items() if key not in ("uid", "resourceVersion")}
        node = self.api.create({**tree, "metadata": meta})
        self.api.update({**node, "status": tree["status"]}, subresource="status")
        frame = {"apiVersion": "ha.k8s.io/v1", "kind": "NodeFence", "metadata": {"name": ORDER.fence.name}}
        fence = self.api.create({**frame, "spec": {"node": "worker-0"}})
        uids = {"fence_uid": fence["metadata"]["uid"], "node_uid": node["metadata"]["uid"]}
        self.order = replace(self.order, **uids)
        self.write_status(node_uid=self.order.node_uid)
        spec = {"leaseTransitions": 3, "holderIdentity": "manager", "leaseDurationSeconds": 15}
        self.api.create({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": spec,
            "metadata": {"name": "node-remedy-manager", "namespace": SYSTEM},
        })  # fmt: skip

    def write_status(self, **changes: Any) -> None:
        fence = self.api.get(NODE_FENCE, ORDER.fence.name, "")
        status = nodefences.status_body(replace(STATUS, **{"node_uid": self.order.node_uid, **changes}), 3)
        self.api.update({**fence, "status": status}, subresource="status")

    def mount(self, authority: bytes, port: int) -> None:
        account, secrets = self.folder / "account", self.folder / "secrets" / "bmc-worker-0"
        for path in (account, secrets):
            path.mkdir(parents=True)
        (account / "token").write_text(TOKEN)
        (account / "ca.crt").write_bytes(authority)
        (secrets / "password").write_text(PASSWORD + "\n")
        self.environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(sys.path),
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(port),
            "https_proxy": "http://127.0.0.1:9",
            "NODE_REMEDY_ACCOUNT": str(account),
            "NODE_REMEDY_MESSAGE": str(self.folder / "message"),
            "NODE_REMEDY_AGENTS_PATH": str(self.folder),
            "NODE_REMEDY_RUN": str(self.folder / "run"),
            SECRETS_VARIABLE: str(self.folder / "secrets"),
        }

    async def start(self, order: Order | None = None) -> asyncio.subprocess.Process:
        environ = {**self.environ, ORDER_VARIABLE: fenceanswer.order_text(order or self.order)}
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "noderemedy.runner", env=environ, stdout=asyncio.subprocess.PIPE
        )

    async def run(self, order: Order | None = None) -> tuple[int, Result, str]:
        """Exit code, termination message and log."""
        process = await self.start(order)
        printed, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, fenceanswer.read_result((self.folder / "message").read_text()), printed.decode()

    async def judge(self) -> Result:
        """The same without a process: enough where nothing is sent."""
        return await asyncio.to_thread(lambda: asyncio.run(run(self.order, Surroundings(self.environ))))


@contextlib.asynccontextmanager
async def a_pod(folder: Path, fault: str = "well") -> AsyncIterator[Pod]:
    install(folder, fault)
    api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(1))
    for tree in crds.every():
        if tree["spec"]["names"]["plural"] == "nodefences":
            api.create(tree)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    pod = Pod(api, folder)
    pod.populate()
    endpoint = await serve(api, tokens={TOKEN: ADMIN}, tls=True)
    assert endpoint.authority
    pod.mount(endpoint.authority.certificate, endpoint.port)
    try:
        yield pod
    finally:
        await endpoint.close()


def test_an_order_is_carried_out_and_told(tmp_path: Path) -> None:
    """Done, verified, exit code 0, a result that a manager can read, and no secret in the log."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            code, result, log = await pod.run()

        assert (0, RunState.DONE, Power.OFF) == (code, result.state, result.power)
        assert ["off", "status", "status"] == asked(tmp_path)
        assert PASSWORD == (tmp_path / "passwords").read_text().splitlines()[0]
        assert PASSWORD not in log

    scripted.run(story())


def test_the_log_holds_all_that_the_agent_printed_but_no_secret(tmp_path: Path) -> None:
    """Question by question, as people read it; not the password in any writing, nor a line that names a credential."""

    async def story() -> None:
        async with a_pod(tmp_path, "talks of all it does") as pod:
            _, result, log = await pod.run()

        *words, last = log.splitlines()
        encoded = base64.b64encode(f"root:{PASSWORD}".encode()).decode()
        assert result == fenceanswer.read_result(last)
        assert ["off: exit code 0", "status: exit code 2", "status: exit code 2"] == [
            line for line in words if not line.startswith("  ")
        ]
        assert ["  Success: Powered off"] == [line for line in words if "Powered" in line]
        assert 3 == log.count("  Connecting to the device with …\n")
        assert 3 == log.count("  red \n")
        assert not [one for one in (PASSWORD, encoded[8:-4], "6629fae49393", "\x1b") if one in log]

    scripted.run(story())


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_node_takes_keys_away_in_the_name_of_its_own(is_writable: bool, tmp_path: Path) -> None:
    """It is where the agent looks before the agent runs; what cannot be written keeps the agent from running."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            (tmp_path / "fence_scsi").symlink_to(tmp_path / "fence_scripted")
            if not is_writable:
                (tmp_path / "run").write_text("a file in the place of the folder")
            order = replace(pod.order, agent="fence_scsi", bound_to="worker-7", own_key="a2", secrets=())
            _, result, _ = await pod.run(order)

        if is_writable:
            assert (RunState.DONE, "a2\n") == (result.state, (tmp_path / "run" / "cluster.key").read_text())
        else:
            assert "not begun: " in result.said
            assert "the key of node worker-7 cannot be written" in result.said
            assert [] == asked(tmp_path)

    scripted.run(story())


def test_a_secret_that_the_agent_wants_as_a_file(tmp_path: Path) -> None:
    """A Job writes it into a private file of its own, which goes with the run; order, log and result hold no word."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            test_files.install(tmp_path)
            (tmp_path / "secrets" / "bmc-worker-0" / "id").write_text(test_files.KEY)
            key = SecretParameter("identity_file", "bmc-worker-0", "id")
            order = replace(pod.order, deed=Deed.STATUS, fence=ref(NODE, "worker-0"), secrets=(key,))
            code, result, log = await pod.run(order)

        assert (0, Power.ON) == (code, result.power)
        assert test_files.KEY == (tmp_path / "found").read_text()
        assert "c29tZX" not in log + result.said + fenceanswer.order_text(order)

    scripted.run(story())
    assert not Path((tmp_path / "path").read_text().strip()).exists()


def test_the_lease_is_where_the_manager_says(tmp_path: Path) -> None:
    """A manager with --namespace leads by a Lease there; its Jobs ask for that one, and for no other of that name."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            pod.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
            body = fencejobs.job_body(pod.order, fencejobs.JobSettings("image:1", "other"), Wall(0))
            told = {one["name"]: one["value"] for one in body["spec"]["template"]["spec"]["containers"][0]["env"]}
            pod.environ[LEASES_VARIABLE] = told[LEASES_VARIABLE]
            nobody = await pod.judge()
            found = pod.api.get(LEASE, "node-remedy-manager", SYSTEM)
            pod.api.create({**found, "metadata": {"name": "node-remedy-manager", "namespace": "other"}})
            lease({"leaseTransitions": 9})(pod)
            code, result, _ = await pod.run()

        assert "-1 leads now" in nobody.said
        assert (0, RunState.DONE) == (code, result.state)

    scripted.run(story())


def lease(spec: dict[str, Any]) -> Change:
    def harm(pod: Pod) -> None:
        found = pod.api.get(LEASE, "node-remedy-manager", SYSTEM)
        pod.api.update({**found, "spec": {**found["spec"], **spec}})

    return harm


def reordered(**changes: Any) -> Change:
    def harm(pod: Pod) -> None:
        pod.order = replace(pod.order, **changes)

    return harm


def booted_before(pod: Pod) -> None:
    """Fence and order are about the boot before the one that the Node shows."""
    pod.write_status(boot_id="boot-0")
    pod.order = replace(pod.order, boot_id="boot-0")


LATE: dict[str, tuple[Change, str]] = {
    "too late": (reordered(not_after=Wall(1)), "should have begun by"),
    "another leader": (lease({"leaseTransitions": 4}), "ordered under leadership 3, and 4 leads now"),
    "nobody leads": (lease({"holderIdentity": ""}), "and -1 leads now"),
    "no lease": (lambda pod: pod.api.delete(LEASE, "node-remedy-manager", SYSTEM), "-1 leads now"),
    "no fence": (lambda pod: pod.api.delete(NODE_FENCE, ORDER.fence.name, ""), "is gone"),
    "not listed": (lambda pod: pod.write_status(jobs=()), "lists no open run"),
    "over": (lambda pod: pod.write_status(jobs=(replace(JOB, state=RunState.FAILED),)), "lists no open run"),
    "another boot": (lambda pod: pod.write_status(boot_id="boot-2"), "another boot"),
    "the node booted again": (booted_before, "has booted again"),
    "no secret": (
        lambda pod: (pod.folder / "secrets/bmc-worker-0/password").unlink(),
        "parameter password: there is no secret bmc-worker-0 in node-remedy-system",
    ),
    "no key": (
        lambda pod: (pod.folder / "secrets/bmc-worker-0/password").rename(pod.folder / "secrets/bmc-worker-0/user"),
        "parameter password: secret bmc-worker-0 has no key password",
    ),
    "not authorised": (lambda pod: (pod.folder / "account/token").write_text("wrong"), "answered 401"),
    "no account": (lambda pod: (pod.folder / "account/token").unlink(), "service account of this pod"),
}


@pytest.mark.parametrize("how", LATE)
def test_a_job_that_comes_late_does_nothing(how: str, tmp_path: Path) -> None:
    """Nothing is sent, the message says why, and the Job has failed."""
    harm, why = LATE[how]

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            harm(pod)
            result = await pod.judge()

        assert RunState.FAILED is result.state
        assert result.said.startswith("not begun: node worker-0, ")
        assert why in result.said

    scripted.run(story())
    assert [] == asked(tmp_path)


def test_a_node_of_another_cluster_is_not_looked_for(tmp_path: Path) -> None:
    """Its Node is not in this API: the NodeFence alone says which boot it is about."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            pod.api.delete(NODE, "worker-0", "")
            assert RunState.DONE is (await pod.run())[1].state

    scripted.run(story())


def test_a_question_needs_no_fence(tmp_path: Path) -> None:
    """A drill as a Job only asks the device."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            order = replace(pod.order, deed=Deed.STATUS, fence=ref(NODE, "worker-0"))
            assert Power.ON is (await pod.run(order))[1].power

    scripted.run(story())


def test_what_was_sent_is_finished(tmp_path: Path) -> None:
    """A deleted Job sends a signal: the command on its way ends, and its result is told (R34)."""

    async def story() -> None:
        async with a_pod(tmp_path, "slow") as pod:
            process = await pod.start()
            await scripted.until(lambda: bool(asked(tmp_path)))
            process.send_signal(signal.SIGTERM)
            await process.communicate()

        assert 0 == process.returncode
        assert RunState.DONE is fenceanswer.read_result((tmp_path / "message").read_text()).state

    scripted.run(story())


def test_no_order_at_all(tmp_path: Path) -> None:
    """A broken environment is a result, too: it names the variable."""

    async def story() -> None:
        async with a_pod(tmp_path) as pod:
            pod.environ[ORDER_VARIABLE] = "{"
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "noderemedy.runner", env=pod.environ, stdout=asyncio.subprocess.DEVNULL
            )
            await process.wait()

        assert 1 == process.returncode
        assert "NODE_REMEDY_ORDER holds no order" in (tmp_path / "message").read_text()

    scripted.run(story())


def test_a_key_that_may_be_missing_is_left_out(tmp_path: Path) -> None:
    """Of a whole Secret the agent gets what is there; one that was asked for by name must be."""
    (tmp_path / "bmc").mkdir()
    (tmp_path / "bmc" / "username").write_text("admin\n")
    some = (SecretParameter("username", "bmc", "username"), SecretParameter("password", "bmc", "password", True))

    assert {"username": "admin"} == read_secrets(replace(ORDER, secrets=some), tmp_path)
    with pytest.raises(SecretMissing):
        read_secrets(replace(ORDER, secrets=(replace(some[1], is_optional=False),)), tmp_path)


@pytest.mark.parametrize("mounted", [(), ("bmc",), ("bmc/..data", "bmc/..2026_11_15")])
def test_a_secret_that_is_missing_is_named(mounted: tuple[str, ...], tmp_path: Path) -> None:
    """The kubelet mounts an empty folder for it: none of its keys is there, not even what may be missing by itself."""
    for folder in mounted:
        (tmp_path / folder).mkdir(parents=True)
    order = replace(ORDER, secrets=(SecretParameter("password", "bmc", "password", is_optional=True),))

    with pytest.raises(SecretMissing, match="parameter password: there is no secret bmc in node-remedy-system"):
        read_secrets(order, tmp_path)
