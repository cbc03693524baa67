"""Containers without a container engine: pods of Jobs really run, as processes of this machine.

Each container gets the host's file system, copy on write (an overlay in a mount namespace of its own), with its volumes
where it mounts them: secrets, config maps, downward API, empty folders, folders of the host, the token of its service
account. Its environment is rendered as a kubelet renders it. Its exit code, log and termination message are true;
nothing succeeds by magic. What is left out: images (every container has the programs of this machine), users, limits,
networks.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import shlex
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.e2e.api import Json
from tests.e2e.background import AsyncApi, Gone

ROOT = Path(__file__).resolve().parents[2]
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
REFERENCE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
MESSAGE_AT, MESSAGE_MAX = "/.bench/termination-log", 4096
TOO_LONG = {"reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline"}
PLACES = {"/.bench/python": Path(sys.prefix), "/.bench/source": ROOT}
IMAGE = {  # what an image of ours would bring
    "PATH": "/.bench/python/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "PYTHONPATH": "/.bench/source/src",
    "LANG": "C.UTF-8",
}


def is_of_a_job(pod: Json) -> bool:
    return any(owner["kind"] == "Job" for owner in pod["metadata"].get("ownerReferences", []))


class Containers:
    """All pods that run as processes. Call its methods in the bench's loop."""

    def __init__(self, api: AsyncApi, server: str, folder: Path) -> None:
        self._api = api
        self._host, _, self._port = server.removeprefix("https://").partition(":")
        self._folder = folder
        self._pods: dict[str, asyncio.Task[None]] = {}
        self._processes: dict[str, tuple[str, asyncio.subprocess.Process]] = {}  # pod uid → computer, process

    def tend(self, computer: str, pod: Json) -> None:
        """Start it, or end it; what is under way stays."""
        uid = pod["metadata"]["uid"]
        if pod["metadata"].get("deletionTimestamp"):
            self._end_politely(pod)
        elif uid not in self._pods:
            self._pods[uid] = asyncio.create_task(self._run(computer, pod))

    def power_off(self, computer: str) -> None:
        """All that runs there is gone, and nobody tells anybody."""
        for uid, (where, process) in list(self._processes.items()):
            if where == computer:
                self._pods[uid].cancel()
                kill(process, signal.SIGKILL)

    def log(self, name: str) -> str:
        """What the pod of this name printed."""
        return "".join(path.read_text(errors="replace") for path in sorted(self._folder.glob(f"{name}.*.log")))

    def _end_politely(self, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        if uid not in self._processes:
            if uid not in self._pods or self._pods[uid].done():
                task = asyncio.create_task(self._remove(pod))
                self._pods[uid] = task
            return
        process = self._processes[uid][1]
        kill(process, signal.SIGTERM)
        grace = pod["metadata"].get("deletionGracePeriodSeconds", 30)
        asyncio.get_running_loop().call_later(grace, kill, process, signal.SIGKILL)

    # --- one pod -------------------------------------------------------------------------------------------------

    async def _run(self, computer: str, pod: Json) -> None:
        """From the start of its only container to its last status."""
        meta, container = pod["metadata"], pod["spec"]["containers"][0]
        scratch = self._folder / f"{meta['name']}-{meta['uid'][:8]}"
        begun = now()
        try:
            command, environ = await self._prepare(pod, container, scratch)
        except (KeyError, Gone) as problem:
            await self._tell(pod, {"phase": "Pending", "message": f"CreateContainerConfigError: {problem}"})
            self._pods.pop(meta["uid"], None)
            return
        log = self._folder / f"{meta['name']}.{meta['uid'][:8]}.log"
        with log.open("ab") as words:
            process = await asyncio.create_subprocess_exec(
                "unshare", "--mount", "sh", "-c", command, env=environ, stdin=asyncio.subprocess.DEVNULL,
                stdout=words, stderr=words, start_new_session=True,
            )  # fmt: skip
        self._processes[meta["uid"]] = (computer, process)
        await self._tell(
            pod, {"phase": "Running", "startTime": begun, **states(container, {"running": {"startedAt": begun}})}
        )
        code, why = await until_ended(process, pod["spec"])
        self._processes.pop(meta["uid"], None)
        await self._ended(pod, container, scratch, code, begun, why)

    async def _ended(self, pod: Json, container: Json, scratch: Path, code: int, begun: str, why: Json) -> None:
        message = (scratch / "termination-log").read_bytes()[:MESSAGE_MAX].decode(errors="replace")
        exit_code = code if code >= 0 else 128 - code
        reason = "Completed" if exit_code == 0 else "Error"
        ended = {"exitCode": exit_code, "reason": reason, "message": message, "startedAt": begun, "finishedAt": now()}
        phase = "Succeeded" if exit_code == 0 and not why else "Failed"
        await self._tell(pod, {"phase": phase, **why, "startTime": begun, **states(container, {"terminated": ended})})
        with contextlib.suppress(Gone):
            found = await self._api.send("GET", path_of(pod))
            if found["metadata"].get("deletionTimestamp") and found["metadata"]["uid"] == pod["metadata"]["uid"]:
                await self._remove(pod)

    async def _remove(self, pod: Json) -> None:
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        with contextlib.suppress(Gone):
            await self._api.send("DELETE", path_of(pod), options)

    async def _tell(self, pod: Json, status: Json) -> None:
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        with contextlib.suppress(Gone):
            await self._api.send("PATCH", f"{path_of(pod)}/status", patch, "application/strategic-merge-patch+json")

    # --- what it finds -------------------------------------------------------------------------------------------

    async def _prepare(self, pod: Json, container: Json, scratch: Path) -> tuple[str, dict[str, str]]:
        """The shell command that becomes the container, and its environment."""
        for name in ("upper", "work", "root"):
            (scratch / name).mkdir(parents=True)
        (scratch / "termination-log").touch()
        volumes = {one["name"]: one for one in pod["spec"].get("volumes", [])}
        hosts: dict[str, str] = {}
        (scratch / "volumes").mkdir()
        # From the inside, where links lead to its own places; a volume may cover where the others come from.
        lines = [line for at, source in PLACES.items() for line in bind(source, at)]
        lines += bind(scratch / "volumes", "/.bench/volumes")
        for mount in container.get("volumeMounts", []):
            if "hostPath" in volumes[mount["name"]]:
                hosts[mount["mountPath"]] = volumes[mount["name"]]["hostPath"]["path"]
                continue
            source = scratch / "volumes" / mount["name"]
            if not source.exists():
                await self._fill(source, volumes[mount["name"]], pod)
            lines += bind(Path("/.bench/volumes") / mount["name"], mount["mountPath"])
        told = shlex.quote(container.get("terminationMessagePath", "/dev/termination-log"))
        lines += [f"touch {told}", f"mount --bind {MESSAGE_AT} {told}"]
        environ = await self._environment(pod, container)
        words = [*container.get("command", []), *container.get("args", [])]
        expanded = " ".join(shlex.quote(expand(word, environ)) for word in words)
        where = shlex.quote(container.get("workingDir", "/"))
        inside = shlex.quote("\n".join(["set -e", *lines, f"cd {where}", f"exec {expanded}"]))
        return "\n".join(["set -e", *overlay(scratch, hosts), f"exec chroot {scratch}/root sh -c {inside}"]), environ

    async def _fill(self, at: Path, volume: Json, pod: Json) -> None:
        sources = volume["projected"]["sources"] if "projected" in volume else [volume]
        write_files(at, [await self._files(source, pod) for source in sources])

    async def _files(self, source: Json, pod: Json) -> dict[str, bytes]:
        namespace = pod["metadata"]["namespace"]
        if found := source.get("secret"):
            data = await self._data("secrets", namespace, found.get("secretName") or found["name"])
            return chosen(data, found)
        if found := source.get("configMap"):
            return chosen(await self._data("configmaps", namespace, found["name"]), found)
        if found := source.get("downwardAPI"):
            return {one["path"]: field(pod, one["fieldRef"]["fieldPath"]).encode() for one in found["items"]}
        if found := source.get("serviceAccountToken"):
            return {found["path"]: (await self._token(pod)).encode()}
        return {}

    async def _token(self, pod: Json) -> str:
        """A token that is bound to this pod, as a kubelet asks for it."""
        meta = pod["metadata"]
        account = pod["spec"].get("serviceAccountName", "default")
        bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
        body = {"spec": {"boundObjectRef": bound, "expirationSeconds": 3607, "audiences": None}}
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{account}/token"
        answer = await self._api.send("POST", path, body)
        return str(answer["status"]["token"])

    async def _data(self, kind: str, namespace: str, name: str) -> dict[str, bytes]:
        found = await self._api.send("GET", f"/api/v1/namespaces/{namespace}/{kind}/{name}")
        data: dict[str, str] = found.get("data") or {}
        return {key: base64.b64decode(text) if kind == "secrets" else text.encode() for key, text in data.items()}

    async def _environment(self, pod: Json, container: Json) -> dict[str, str]:
        server = {"KUBERNETES_SERVICE_HOST": self._host, "KUBERNETES_SERVICE_PORT": self._port}
        environ = {**IMAGE, "HOSTNAME": pod["metadata"]["name"], **server}
        for source in container.get("envFrom", []):
            kind = "secrets" if "secretRef" in source else "configmaps"
            named = source.get("secretRef") or source["configMapRef"]
            for key, content in (await self._data(kind, pod["metadata"]["namespace"], named["name"])).items():
                environ[source.get("prefix", "") + key] = content.decode()
        for one in container.get("env", []):
            environ[one["name"]] = await self._value(one, pod, environ)
        return environ

    async def _value(self, one: Json, pod: Json, environ: dict[str, str]) -> str:
        source = one.get("valueFrom")
        if not source:
            return expand(one.get("value", ""), environ)
        if found := source.get("fieldRef"):
            return field(pod, found["fieldPath"])
        kind = "secrets" if "secretKeyRef" in source else "configmaps"
        found = source.get("secretKeyRef") or source["configMapKeyRef"]
        return (await self._data(kind, pod["metadata"]["namespace"], found["name"]))[found["key"]].decode()


async def until_ended(process: asyncio.subprocess.Process, spec: Json) -> tuple[int, Json]:
    """The exit code, and why a kubelet ended it, if it did: at the pod's deadline, politely first.

    As a kubelet does it: the pod has failed whatever its exit code, once its containers have ended and not before.
    """
    try:
        async with asyncio.timeout(spec.get("activeDeadlineSeconds")):
            return await process.wait(), {}
    except TimeoutError:
        kill(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(spec.get("terminationGracePeriodSeconds", 30)):
            return await process.wait(), TOO_LONG
    except TimeoutError:
        kill(process, signal.SIGKILL)
    return await process.wait(), TOO_LONG


def overlay(scratch: Path, hosts: dict[str, str]) -> list[str]:
    """Commands that make the container's file system, in a mount namespace that ends with it."""
    root = f"{scratch}/root"
    layers = f"lowerdir=/,upperdir={scratch}/upper,workdir={scratch}/work"
    devices = [f"touch {root}/dev/{name} && mount --bind /dev/{name} {root}/dev/{name}" for name in DEVICES]
    told = f"{root}{MESSAGE_AT}"
    return [
        "mount --make-rprivate / 2>/dev/null || true",
        f"mount -t overlay overlay -o {layers} {root}",
        f"mount -t proc proc {root}/proc",
        f"mount -t tmpfs tmpfs {root}/dev",
        *devices,
        f"ln -s /proc/self/fd {root}/dev/fd",
        *(f"mount --rbind {shlex.quote(path)} {shlex.quote(root + at)}" for at, path in hosts.items()),
        f"mkdir -p {root}/.bench && touch {told} && mount --bind {scratch}/termination-log {told}",
    ]


def write_files(at: Path, sources: list[dict[str, bytes]]) -> None:
    at.mkdir(parents=True)
    for name, content in [item for files in sources for item in files.items()]:
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_bytes(content)


def bind(source: Path, at: str) -> list[str]:
    target = shlex.quote(at)
    return [f"mkdir -p {target}", f"mount --bind {shlex.quote(str(source))} {target}"]


def chosen(data: dict[str, bytes], source: Json) -> dict[str, bytes]:
    """All keys, or those that are named, under their paths."""
    if items := source.get("items"):
        return {one["path"]: data[one["key"]] for one in items}
    return data


def field(pod: Json, path: str) -> str:
    """A field of the downward API."""
    if found := re.fullmatch(r"metadata\.(labels|annotations)\['([^']+)'\]", path):
        return str(pod["metadata"].get(found[1], {}).get(found[2], ""))
    value: Any = pod
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, dict) else ""
    if isinstance(value, dict):  # all labels, or all annotations: a line each
        return "\n".join(f"{key}={json.dumps(one)}" for key, one in sorted(value.items()))
    return str(value) if path != "status.podIP" else "127.0.0.1"


def expand(text: str, environ: dict[str, str]) -> str:
    return REFERENCE.sub(lambda found: environ.get(found[1], found[0]), text)


def states(container: Json, state: Json) -> Json:
    one = {"name": container["name"], "image": container["image"], "imageID": "", "ready": "running" in state}
    ready = {"type": "Ready", "status": "True" if "running" in state else "False"}
    return {"containerStatuses": [{**one, "restartCount": 0, "state": state}], "conditions": [ready]}


def path_of(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def kill(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """The process that the kubelet knows, or all of it."""
    with contextlib.suppress(ProcessLookupError):
        if number is signal.SIGKILL:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
