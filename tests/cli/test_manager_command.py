"""`node-remedy manager` and `plan` as real processes against the simulated API: signals, exit codes, logs."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.calling import called
from tests.manager.bench import SYSTEM, TOKENS, Bench, bench, until

from noderemedy.cli.manager import manager
from noderemedy.lab.http_faults import failure
from noderemedy.wire import names
from noderemedy.wire.http import Request

PROGRAM = str(Path(sys.executable).with_name("node-remedy"))


def within(seconds: float, story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, seconds))


async def start(it: Bench, *arguments: str, command: str = "manager") -> asyncio.subprocess.Process:
    line = [command, "--kubeconfig", str(it.kubeconfig), *arguments]
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(PROGRAM, *line, stdout=pipe, stderr=pipe)


def log_lines(stderr: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stderr.splitlines()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_gracefully(number: signal.Signals, tmp_path: Path) -> None:
    """A signal ends the process with code 0, the lease is free, and every line of the log is JSON."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            process = await start(it, "--namespace", SYSTEM)
            await until(lambda: names.REBOOT in it.notes("host"), 20, "the hold")
            process.send_signal(number)
            stdout, stderr = await process.communicate()

            assert (0, b"") == (process.returncode, stdout)
            assert "" == (it.lease().get("holderIdentity") or "")
            lines = log_lines(stderr)
            assert {"manager starts", "decided", "effect ended", "manager stopped"} <= {
                line["message"] for line in lines
            }
            assert TOKENS["administrator"].encode() not in stderr

    within(60, story())


def test_second_signal_ends_at_once(tmp_path: Path) -> None:
    """While a write hangs the first signal waits for it, the second does not."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            arrived = asyncio.Event()

            async def hang(request: Request) -> None:
                if request.method == "PATCH" and "baremetalhosts" in request.path:
                    arrived.set()
                    await asyncio.sleep(30)

            it.delay = hang
            process = await start(it)
            await asyncio.wait_for(arrived.wait(), 20)
            process.terminate()
            await asyncio.sleep(0.5)
            assert process.returncode is None
            process.terminate()
            assert 128 + signal.SIGTERM == await asyncio.wait_for(process.wait(), 5)

    within(60, story())


def test_dry_run(tmp_path: Path) -> None:
    """`manager --dry-run` says what it would do and writes nothing at all."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            process = await start(it, "--dry-run")
            assert process.stderr
            while b'"would do"' not in await process.stderr.readline():
                pass
            process.terminate()
            await process.communicate()

            assert (0, []) == (process.returncode, it.writes())

    within(60, story())


def test_taken_port_is_named(tmp_path: Path) -> None:
    """A port that somebody else has ends the start with exit code 2 and the remedy."""

    async def story() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            async with bench(tmp_path) as it:
                port = str(taken.getsockname()[1])
                process = await start(it, "--metrics-port", port)
                _, stderr = await process.communicate()

                assert 2 == process.returncode
                assert f"127.0.0.1:{port}: " in stderr.decode()
                assert "choose another --metrics-port" in stderr.decode()
                assert "Traceback" not in stderr.decode()

    within(60, story())


def break_nothing(it: Bench) -> None:
    """All is well."""


def break_the_kubeconfig(it: Bench) -> None:
    it.kubeconfig.write_text("clusters: [")


def break_the_token(it: Bench) -> None:
    it.kubeconfig.write_text(it.kubeconfig.read_text().replace(TOKENS["administrator"], "stolen"))


def break_the_context(it: Bench) -> None:
    it.kubeconfig.write_text(it.kubeconfig.read_text().replace("current-context: ", "current-context: un"))


def break_the_permissions(it: Bench) -> None:
    message = 'baremetalhosts.metal3.io is forbidden: User "jo" cannot list resource "baremetalhosts"'
    it.before = lambda request: failure(403, "Forbidden", message) if "/baremetalhosts" in request.path else None


def break_the_address(it: Bench) -> None:
    it.kubeconfig.write_text(it.kubeconfig.read_text().replace(f":{it.endpoint.port}", ":9"))


@pytest.mark.parametrize("namespace", ["Bad", "a/b", "", "-a", "a" * 64])
def test_impossible_namespace_is_refused(namespace: str) -> None:
    """A name that no namespace can have is refused at once, before the cluster is asked for a lease there."""
    result = CliRunner().invoke(manager, ["--namespace", namespace])

    assert 2 == result.exit_code
    assert f"Invalid value for '--namespace': {namespace!r} is no name of a namespace" in result.output


@pytest.mark.parametrize("image", [(), ("--remedy-image", "")])
def test_jobs_need_an_image(image: tuple[str, ...]) -> None:
    """No name fits every registry: who wants Jobs says where theirs is, before one cannot be pulled."""
    result = CliRunner().invoke(manager, ["--agents", "job", *image])

    assert 2 == result.exit_code
    assert "--agents job needs --remedy-image IMAGE" in result.output


@pytest.mark.parametrize("command", ["plan", "manager"])
@pytest.mark.parametrize("damage", [break_the_kubeconfig, break_the_context])
def test_unusable_kubeconfig_is_one_line(command: str, damage: Callable[[Bench], None], tmp_path: Path) -> None:
    """Before anything is asked of the cluster, one line names the file, the entry and the remedy."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            damage(it)
            process = await start(it, command=command)
            stdout, stderr = await process.communicate()

            assert (2, b"", 1) == (process.returncode, stdout, len(stderr.splitlines()))
            assert str(it.kubeconfig) in stderr.decode()
            assert [] == it.requests

    within(60, story())


@pytest.mark.parametrize(
    ("damage", "code", "problem"),
    [
        (break_nothing, 0, ""),
        (break_the_kubeconfig, 2, "not YAML"),
        (break_the_token, 2, "check the credentials"),
        (break_the_address, 2, "check that it runs, and its address"),
        (break_the_context, 2, "name another one with --context (known: "),
        (break_the_permissions, 2, "grant list,watch on baremetalhosts.metal3.io to jo"),
    ],
)
def test_live_plan(damage: Callable[[Bench], None], code: int, problem: str, tmp_path: Path) -> None:
    """`plan` on a live cluster prints JSON, or one line that says why it cannot be reached; never a traceback."""

    async def story() -> None:
        async with bench(tmp_path) as it:
            it.populate()
            it.mark()
            damage(it)
            found = await asyncio.to_thread(called, "plan", "--kubeconfig", it.kubeconfig, "-o", "json")

            assert code == found.returncode, found.stderr
            if code == 0:
                [entry] = json.loads(found.stdout)
                assert "AddRebootAnnotation" == entry["actions"][0]["do"]
            else:
                assert ("", 1) == (found.stdout, len(found.stderr.splitlines()))
                assert problem in found.stderr

    within(60, story())
