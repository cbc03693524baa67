"""One process of an agent: parameters, time, output, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from pathlib import Path

import pytest
from tests.drivers.fence.scripted import install

from noderemedy.core.fencing.results import Ended, Trouble
from noderemedy.drivers.fence import process
from noderemedy.drivers.fence.process import Kept, run_agent, stdin_of

STATUS = (("password", "hunter2 = 'x' \"y\" $HOME"), ("action", "status"))


def run(path: Path, patience_s: float = 5.0) -> Ended:
    return asyncio.run(run_agent(path, STATUS, patience_s, environ={"PATH": os.environ["PATH"]}))


def test_parameters_arrive_by_standard_input(tmp_path: Path) -> None:
    """A value may hold anything but a line's end, and arrives as it is."""
    ended = run(install(tmp_path, "well"))

    assert (0, "Status: ON\n") == (ended.exit_code, ended.output)
    assert STATUS[0][1] == (tmp_path / "passwords").read_text().rstrip("\n")


def test_no_parameter_is_in_the_process_list(tmp_path: Path) -> None:
    """Arguments are in everybody's process list: there are none."""
    path = tmp_path / "fence_seen"
    path.write_text("#!/bin/sh\ntr '\\0' ' ' < /proc/$$/cmdline\ntr '\\0' ' ' < /proc/$$/environ\n")
    path.chmod(0o755)

    assert "hunter2" not in run(path).output


def test_the_environment_is_ours_in_part_only(tmp_path: Path) -> None:
    """Tokens and addresses of the cluster are none of an agent's business; the cloud's settings are."""
    path = tmp_path / "fence_env"
    path.write_text("#!/bin/sh\nenv\n")
    path.chmod(0o755)
    environ = {
        "PATH": os.environ["PATH"],
        "AWS_ENDPOINT_URL": "http://127.0.0.1",
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    }

    shown = asyncio.run(run_agent(path, (), 5.0, environ=environ)).output

    assert (True, False) == ("AWS_ENDPOINT_URL=" in shown, "KUBERNETES" in shown)


@pytest.mark.parametrize("fault", ["never ends", "ignores signals", "talks for ever"])
def test_what_does_not_end_is_ended(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of its group is gone when its time is over, however it behaves."""
    monkeypatch.setattr(process, "GRACE_S", 0.1)
    begun = time.monotonic()

    ended = run(install(tmp_path, fault), 0.3)

    assert (None, Trouble.TOO_LONG) == (ended.exit_code, ended.trouble)
    assert 3 > time.monotonic() - begun
    assert [] == of_folder(tmp_path)


def of_folder(folder: Path) -> list[str]:
    """Processes that were started from this folder, or run on in its name."""
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return [line.decode() for line in lines if str(folder).encode() in line]


def is_running(number: int) -> bool:
    """Whether this process is there and is more than an entry of a table."""
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    return False


def is_gone_soon(number: int) -> bool:
    """Who is killed dies when it is its turn on a processor."""
    end = time.monotonic() + 2
    while is_running(number) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_running(number)


def test_a_child_left_behind_does_not_keep_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that has ended has ended, though its child holds the pipe."""
    monkeypatch.setattr(process, "REST_S", 0.1)
    begun = time.monotonic()

    ended = run(install(tmp_path, "leaves a child"), 30.0)

    assert (0, True) == (ended.exit_code, time.monotonic() - begun < 3)
    assert is_gone_soon(int((tmp_path / "state.child").read_text()))


def test_output_is_bounded(tmp_path: Path) -> None:
    """Garbage of any length is read to its end, and a part of it is kept."""
    ended = run(install(tmp_path, "garbage"))

    assert 7 == ended.exit_code
    assert 2 * process.OUTPUT_MAX > len(ended.output) > process.OUTPUT_MAX // 4


def test_an_agent_that_reads_nothing_is_judged_by_its_end(tmp_path: Path) -> None:
    """A closed pipe is no trouble of ours."""
    assert 0 == run(install(tmp_path, "reads nothing")).exit_code


def test_what_cannot_be_started_says_why(tmp_path: Path) -> None:
    """A file that is no program is named, with the system's word."""
    path = install(tmp_path, "well")
    path.chmod(0o644)
    ended = run(path)

    assert (Trouble.NOT_STARTED, f"{path}: Permission denied") == (ended.trouble, ended.why)


def test_whoever_cancels_waits_for_the_end(tmp_path: Path) -> None:
    """Half a command is worse than a late one: a stop of ours ends no agent (R34)."""
    path = install(tmp_path, "slow")

    async def story() -> None:
        running = asyncio.create_task(run_agent(path, (("action", "off"),), 5.0))
        await asyncio.sleep(0.1)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(story())

    assert "off\n" == (tmp_path / "state").read_text()


def test_two_lines_in_one_value_are_a_bug() -> None:
    """They would be a second parameter: whoever calls has refused them before."""
    with pytest.raises(AssertionError):
        stdin_of((("plug", "1\naction=on"),))


def test_beginning_and_end_are_kept() -> None:
    """Of a long output the whole lines of both ends: half a password would pass for none."""
    kept = Kept(20)
    for chunk in (b"trying\npass", b"word=hunter2\nfailed: hunter2\n", b"bye\n"):
        kept.add(chunk)

    assert "trying\n(33 bytes left out)\nbye\n" == kept.text()


def test_an_output_that_fits_is_kept_whole() -> None:
    """Lines or not."""
    kept = Kept(20)
    kept.add(b"a line\nand a half")

    assert "a line\nand a half" == kept.text()
