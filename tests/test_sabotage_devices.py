"""Every green was seen red: each sabotage of what runs fence agents is met by the tests that it names."""

from __future__ import annotations

import inspect
import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.drivers.fence import test_describe, test_files, test_process, test_verify
from tests.drivers.kube import scripted
from tests.manager import test_jobruns, test_runs
from tests.runner import test_program
from tests.sabotage.devices import SABOTAGES
from tests.sabotage.running import Sabotage, fails

from noderemedy.core.fencing import results, staleness
from noderemedy.drivers.fence import agents, describe, files, process, standins
from noderemedy.manager import jobruns
from noderemedy.manager.runs import Runs
from noderemedy.runner import program


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name.replace(" ", "-"))
def test_each_sabotage_is_seen(sabotage: Sabotage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under one line of harm, each of the named tests fails."""
    sabotage.harm(monkeypatch)

    assert sabotage.tests
    assert [] == [test.__name__ for test in sabotage.tests if not fails(test, monkeypatch)]


async def cancel_all(self: Any) -> None:
    for task in self._tasks.values():
        task.cancel()


def always(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


# what is broken: (owner, attribute, replacement, the test that must notice, its arguments beside fixtures)
WITH_PROCESSES: dict[str, tuple[Any, str, Any, Callable[..., None], dict[str, Any]]] = {
    "give agents all of our environment": (
        process, "surroundings", dict, test_process.test_the_environment_is_ours_in_part_only, {},
    ),
    "keep all output": (
        process, "OUTPUT_MAX", 1 << 30, test_process.test_output_is_bounded, {},
    ),
    "signal nobody": (
        process, "_signal", always(None), test_process.test_a_child_left_behind_does_not_keep_us, {},
    ),
    "look once": (
        results, "LOOKS", 1, test_verify.test_off_is_verified_twice, {},
    ),
    "look at no answer": (
        standins, "for_status", always(()), test_verify.test_questions_go_through_programs_of_ours,
        {"agent": "fence_apc_snmp"},
    ),
    "take any name for an agent": (
        agents, "NAME", re.compile("[^/]+"), test_verify.test_only_names_of_agents_are_run, {"name": "other"},
    ),
    "tell agents the secret itself": (
        files, "wants_file", always(False), test_files.test_an_agent_reads_a_secret_from_a_private_file, {},
    ),
    "leave files behind": (
        shutil, "rmtree", always(None), test_files.test_what_a_killed_process_left_is_removed_by_the_next, {},
    ),
    "tidy up too early": (
        files, "LEFT", re.compile(r".*-([0-9])[0-9]*-.*"),
        test_files.test_what_a_killed_process_left_is_removed_by_the_next, {},
    ),
    "hide a file as one word": (
        files, "words_of", lambda secrets: tuple(secrets.values()),
        test_files.test_nothing_is_left_or_told_when_it_fails, {"more": test_files.TELLS, "seconds": 5.0},
    ),
    "ask agents one way only": (
        describe, "document_in", always(""), test_describe.test_an_agent_is_asked_both_ways,
        {"text": test_describe.BY_STDIN, "expected": test_describe.DOCUMENT},
    ),
    "send what nobody wants": (
        staleness, "unwanted", always(""), test_runs.test_nothing_is_sent, {"how": "it is not listed"},
    ),
    "send to a node that came back": (
        staleness, "another_boot", always(""), test_runs.test_nothing_is_sent, {"how": "the node has booted again"},
    ),
    "call off what was sent": (
        Runs, "finish", cancel_all, test_runs.test_a_stop_waits_for_what_was_sent, {},
    ),
    "take a 409 for ours": (
        jobruns, "CREATED", 409, test_jobruns.test_a_job_of_an_earlier_manager_is_followed_and_never_fresh, {},
    ),
    "take every secret for there": (
        program, "is_mounted", always(True),
        test_program.test_a_job_that_comes_late_does_nothing, {"how": "no secret"},
    ),
    "run whatever comes late": (
        staleness, "superseded", always(""),
        test_program.test_a_job_that_comes_late_does_nothing, {"how": "another leader"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_sabotage_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With this one line changed, the test of its group fails or hangs."""
    owner, attribute, replacement, test, arguments = WITH_PROCESSES[name]
    fixtures = {"tmp_path": tmp_path, "monkeypatch": monkeypatch}
    given = {each: fixtures[each] for each in inspect.signature(test).parameters if each in fixtures}
    monkeypatch.setattr(owner, attribute, replacement)
    monkeypatch.setattr(scripted, "LIMIT_S", 4.0)

    with pytest.raises((AssertionError, TimeoutError, ValueError, pytest.fail.Exception)):
        test(**{**given, **arguments})
    await_what_is_left()


def await_what_is_left() -> None:
    """Agents that nobody waits for end by themselves. That is logged by a thread, with a traceback, which parses code:
    should a test parse at that moment, CPython 3.11 fails for its depth."""
    for thread in threading.enumerate():
        if thread.name.startswith("asyncio-waitpid"):
            thread.join(timeout=30)
