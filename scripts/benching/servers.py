"""The API server that is measured against: a real kube-apiserver with etcd, or the simulated one over HTTP.

The real one comes from the cache that `make e2e` fills. Where it is missing the simulated one stands in, and the
report says so: ratios between manager and yardstick still mean something then, latencies do not.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent.parent
PLACES = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "scripts" / "controlplane")]
sys.path[:0] = [path for path in PLACES if path not in sys.path]

from benching.counting import IDENTITY  # noqa: E402
from finding import search  # noqa: E402  beside build.py, which looks in the same places
from tests.e2e.certificates import make_certificates  # noqa: E402
from tests.e2e.controlplane import ControlPlane  # noqa: E402
from tests.e2e.processes import Program  # noqa: E402

from noderemedy.lab.http import serve  # noqa: E402
from noderemedy.model.time import Wall  # noqa: E402
from noderemedy.sim.apiserver import ADMIN, ApiServer  # noqa: E402

NEEDED = ("kube-apiserver", "etcd")
START_S = 20.0


class Server(Struct, frozen=True):
    """Where it is, what it is, and how the manager comes to it: under a name of its own where requests are logged."""

    kubeconfig: Path
    note: str
    manager: Path
    log: Path | None = None


class ServersOnly(ControlPlane):
    """Without the controllers: nobody but us shall touch the objects while we measure."""

    def _start_controllers(self) -> None:
        pass


@contextmanager
def a_server(folder: Path, simulated: bool = False) -> Iterator[Server]:
    """A running API server, real if there is one."""
    found = search(os.environ)
    missing = [name for name in NEEDED if name not in found.found]
    if simulated or missing:
        why = f"missing: {', '.join(missing)} (make e2e builds them)" if missing else "as asked for"
        with _simulated(folder, f"simulated API server, {why}") as server:
            yield server
        return
    plane = ServersOnly(found.found, folder / "plane", make_certificates(folder))
    try:
        plane.start()
        note = f"real kube-apiserver, ready in {plane.seconds_to_ready:.1f} s"
        yield Server(plane.kubeconfig(), note, plane.kubeconfig(IDENTITY), plane.audit_log)
    finally:
        plane.stop()


@contextmanager
def _simulated(folder: Path, note: str) -> Iterator[Server]:
    kubeconfig = folder / "simulated.kubeconfig"
    program = Program([sys.executable, __file__, kubeconfig], folder / "simulated.log")
    try:
        _wait_for(kubeconfig, program)
        yield Server(kubeconfig, note, kubeconfig)
    finally:
        program.kill()


def _wait_for(path: Path, program: Program) -> None:
    end = time.monotonic() + START_S
    while not path.exists():
        if time.monotonic() > end or not program.is_running:
            raise SystemExit(f"the simulated API server did not start:\n{program.last_words()}")
        time.sleep(0.05)


async def _serve(path: Path) -> None:
    """The simulated server as a program: writes the kubeconfig when it listens, then serves for ever."""
    token = secrets.token_hex(16)
    api = ApiServer(wall=lambda: Wall(time.time_ns() // 1_000_000), chance=random.Random(1))
    endpoint = await serve(api, tokens={token: ADMIN})
    cluster = {"server": f"http://127.0.0.1:{endpoint.port}", "certificate-authority": ""}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": cluster}],
        "users": [{"name": "bench", "user": {"token": token}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    unfinished = path.with_suffix(".part")
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(content), encoding="utf-8")
    unfinished.rename(path)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
