"""Secrets that an agent wants as files: with a real agent that reads them, and what is left when all is over."""

from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import pytest
from tests.drivers.fence.scripted import HEAD, hand, order
from tests.drivers.kube import scripted

from noderemedy.core.fencing.credentials import usable
from noderemedy.drivers.fence import files
from noderemedy.drivers.fence.verify import Hand, carry_out
from noderemedy.model.agent import wants_file
from noderemedy.model.run import Deed, Power, Result, RunState

KEY = "-----BEGIN PRIVATE KEY-----\nc29tZXRoaW5nIHNlY3JldA\n-----END PRIVATE KEY-----\n"
# Notes what it finds at the path that it is told, and under which rights.
READER = """stat -c '%a' "$p_identity_file" "$(dirname "$p_identity_file")" > {folder}/rights
cat "$p_identity_file" > {folder}/found
echo "$p_identity_file" > {folder}/path
env > {folder}/environment
tr '\\0' ' ' < /proc/$$/cmdline > {folder}/arguments
"""
TELLS = 'cat "$p_identity_file" >&2; echo "Failed: c29tZXRoaW5nIHNlY3JldA is denied" >&2; exit 1\n'
HANGS = "sleep 600\n"


def install(folder: Path, more: str = "exit 0\n") -> Hand:
    path = folder / "fence_scripted"
    path.write_text(HEAD.format(folder=folder) + READER.format(folder=folder) + more)
    path.chmod(0o755)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    usual = hand(folder)
    return Hand(usual.folders, between_looks=usual.between_looks, scratch=scratch)


def run(one: Hand, seconds: float = 5.0) -> Result:
    secrets = {"identity_file": KEY, "password": "hunter2"}
    return asyncio.run(carry_out(order(Deed.STATUS, seconds), secrets, one))


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def test_an_agent_reads_a_secret_from_a_private_file(tmp_path: Path) -> None:
    """Only its owner may, the whole text is there, only the path is told, and nothing is left afterwards."""
    result = run(install(tmp_path))

    assert (RunState.DONE, Power.ON) == (result.state, result.power)
    assert KEY == read(tmp_path, "found")
    assert ["600", "700"] == read(tmp_path, "rights").split()
    assert "c29tZX" not in read(tmp_path, "environment") + read(tmp_path, "arguments")
    assert not Path(read(tmp_path, "path").strip()).exists()
    assert [] == list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(("more", "seconds"), [(TELLS, 5.0), (HANGS, 0.4)])
def test_nothing_is_left_or_told_when_it_fails(more: str, seconds: float, tmp_path: Path) -> None:
    """Also if the agent prints the file, or has to be ended."""
    result = run(install(tmp_path, more), seconds)

    assert RunState.FAILED is result.state
    assert "c29tZX" not in result.said
    assert [] == list((tmp_path / "scratch").iterdir())


def test_a_run_that_is_called_off_leaves_nothing(tmp_path: Path) -> None:
    """Whoever cancels waits for the agent; then the file goes."""
    one = install(tmp_path, "sleep 0.3\n")

    async def story() -> None:
        running = asyncio.create_task(carry_out(order(Deed.STATUS), {"identity_file": KEY}, one))
        await scripted.until((tmp_path / "path").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(story())
    assert [] == list((tmp_path / "scratch").iterdir())


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """Once its time is over: an agent may outlive the one who started it, and needs its file until then."""
    one, now = install(tmp_path), int(time.time())
    for until in (now - 1, now + 100):
        folder = tmp_path / "scratch" / f"{files.PREFIX}{until}-abc"
        folder.mkdir()
        (folder / "identity_file").write_text(KEY)
    (tmp_path / "scratch" / "of-somebody-else").mkdir()

    run(one)

    left = sorted(path.name for path in (tmp_path / "scratch").iterdir())
    assert [f"{files.PREFIX}{now + 100}-abc", "of-somebody-else"] == left


def test_where_no_file_can_be_written_nothing_is_sent(tmp_path: Path) -> None:
    """The message names the parameter and the remedy."""
    one = install(tmp_path)
    (tmp_path / "scratch").rmdir()

    result = run(one)

    assert result.said.startswith("not begun: node worker-0, method bmc (fence_scripted): parameter identity_file: its")
    assert not (tmp_path / "found").exists()


def test_memory_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in memory is never on a disk; elsewhere it is the usual folder for what is temporary."""
    monkeypatch.setattr(files, "MEMORY", tmp_path)
    with files.handed({"tlskey": KEY}, 1.0) as given:
        path = Path(given["tlskey"])
        assert (tmp_path, 0o600) == (path.parent.parent, stat.S_IMODE(path.stat().st_mode))

    monkeypatch.setattr(files, "MEMORY", tmp_path / "not-there")
    assert tmp_path != files.home()


def test_without_such_a_parameter_nothing_is_written(tmp_path: Path) -> None:
    """A password goes by standard input, as ever."""
    with files.handed({"password": "hunter2"}, 1.0, tmp_path / "not-there") as given:
        assert {"password": "hunter2"} == given


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        *((name, True) for name in ("identity_file", "tlscert", "tlskey", "tlscacert", "cacert", "kubeconfig")),
        *((name, False) for name in ("password", "debug_file", "openrc", "token_file", "status_file", "key")),
    ],
)
def test_which_parameters_are_files(name: str, is_one: bool) -> None:
    """Those that an agent only reads; what it writes to is no secret of ours."""
    assert is_one is wants_file(name)


def test_a_file_may_have_many_lines_and_ends_with_one() -> None:
    """A key without its last line feed is no key for ssh."""
    assert KEY == usable("identity_file", "s", "k", KEY.rstrip("\n"))
