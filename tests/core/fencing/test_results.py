"""What exit codes and words of agents mean, row by row."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.fencing.orders import PASSWORD, an_order
from tests.fuzzing import in_time

from noderemedy.core.fencing import results
from noderemedy.core.fencing.results import Ended, Trouble, of_deed, of_status
from noderemedy.model.run import Deed, Power, Result, RunState, SecretParameter

ON, OFF, LOST = Ended(0), Ended(2), Ended(1, "Failed: Unable to connect/login to fencing device")
OVER = Ended(trouble=Trouble.TOO_LONG)
BY_ANOTHER = "; look at parameter ip, and at what else switches it"
TOO_SLOW = "; look at parameter ip, or give it more time by timeout="
DONE, FAILED = RunState.DONE, RunState.FAILED


@pytest.mark.parametrize(
    ("deed", "ended", "looks", "state", "power", "word"),
    [
        (Deed.OFF, Ended(0), (OFF, OFF), DONE, Power.OFF, "says so twice"),
        (Deed.ON, Ended(0), (ON, ON), DONE, Power.ON, "says so twice"),
        (Deed.OFF, Ended(0), (ON, ON), FAILED, Power.ON, "but the device says on; look at parameter ip"),
        (Deed.ON, Ended(0), (OFF, OFF), FAILED, Power.OFF, "but the device says off; look at parameter ip"),
        (Deed.OFF, Ended(0), (OFF, ON), FAILED, Power.ON, f"off after off, and on a moment later{BY_ANOTHER}"),
        (Deed.OFF, Ended(0), (ON, OFF), FAILED, Power.OFF, f"a moment later{BY_ANOTHER}"),
        (Deed.OFF, Ended(0), (OFF, LOST), FAILED, Power.UNKNOWN, "nobody can verify it"),
        (Deed.OFF, Ended(0), (OFF, OVER), FAILED, Power.UNKNOWN, "nobody can verify it"),
        (Deed.OFF, Ended(0), (OFF,), FAILED, Power.OFF, "a moment later"),
        (Deed.OFF, Ended(0), (), FAILED, Power.UNKNOWN, "but the device says unknown"),
        (Deed.OFF, LOST, (), FAILED, Power.UNKNOWN, "off failed with exit code 1: Failed: Unable to connect"),
        (Deed.OFF, Ended(2), (OFF, OFF), FAILED, Power.UNKNOWN, "exit code 2"),
        (Deed.OFF, Ended(-9), (OFF, OFF), FAILED, Power.UNKNOWN, "exit code -9"),
        (Deed.OFF, OVER, (OFF, OFF), FAILED, Power.UNKNOWN, f"ended (60s for the whole run){TOO_SLOW}"),
        (Deed.OFF, Ended(trouble=Trouble.NOT_STARTED, why="/x: Permission denied"), (), FAILED, Power.UNKNOWN, "/x:"),
    ],
)
def test_a_deed_is_done_only_if_the_device_says_so_twice(
    deed: Deed, ended: Ended, looks: tuple[Ended, ...], state: RunState, power: Power, word: str
) -> None:
    """Exit code 0 alone proves nothing; each doubt is a failure that tells what was seen."""
    result = of_deed(an_order(deed), ended, looks, ())

    assert (state, power) == (result.state, result.power)
    assert word in result.said


@pytest.mark.parametrize(
    ("ended", "state", "power"),
    [
        (ON, DONE, Power.ON),
        (OFF, DONE, Power.OFF),
        (Ended(1), FAILED, Power.UNKNOWN),
        (Ended(3), FAILED, Power.UNKNOWN),
        (Ended(-15), FAILED, Power.UNKNOWN),
        (OVER, FAILED, Power.UNKNOWN),
    ],
)
def test_what_status_says(ended: Ended, state: RunState, power: Power) -> None:
    """Only 0 (on) and 2 (off) tell anything."""
    result = of_status(an_order(Deed.STATUS), ended, ())

    assert (state, power) == (result.state, result.power)


def test_every_message_names_node_method_and_agent() -> None:
    """Whoever reads it knows where to look."""
    result = of_deed(an_order(), LOST, (), ())

    assert result.said.startswith("node worker-0, method bmc (fence_ipmilan): ")


def test_a_result_is_about_its_order() -> None:
    """What somebody else tells of a run gets its beginning; what has it stays as it is."""
    begun, unbegun = results.failed(an_order(), "lost"), results.not_begun(an_order(), "late")
    told = results.about(an_order(), Result(FAILED, Power.ON, "gone"))

    assert (begun, unbegun) == (results.about(an_order(), begun), results.about(an_order(), unbegun))
    assert Result(FAILED, Power.ON, "node worker-0, method bmc (fence_ipmilan): gone") == told


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("Unable to connect/login to fencing device", "username, password (secret bmc-worker-0, key password)"),
        ("Error: Unable to establish IPMI v2 / RMCP+ session", "username, password (secret bmc-worker-0"),
        ("Connection timed out", "parameter ip"),
        ("Failed: Name or service not known", "parameter ip"),
        ("Unable to obtain correct plug status or plug is not available", "ip, username, password (secret"),
        ("Exception of another kind", "ip, username, password (secret"),
        ("", "ip, username, password (secret"),
    ],
)
def test_the_parameters_to_look_at_are_named(words: str, named: str) -> None:
    """What an agent says is enriched by the parameters it has to do with, by name only."""
    assert named in results.hint(an_order(), words)


def test_a_device_that_does_something_else_may_be_another_one() -> None:
    """Credentials were right: what says which device is meant is named, the outlet first."""
    order = an_order(parameters=(("ip", "192.0.2.7"), ("plug", "7"), ("username", "admin")))

    assert of_deed(order, Ended(0), (ON, ON), ()).said.endswith("; look at parameters plug, ip")


def test_too_slow_a_device_without_an_address() -> None:
    """There is always the time that the method gives it."""
    said = of_deed(an_order(parameters=(), secrets=()), OVER, (), ()).said

    assert said.endswith("(60s for the whole run); give it more time by timeout=")


def test_what_is_unknown_is_not_named() -> None:
    """An order without any such parameter gets no advice."""
    assert "" == results.hint(an_order(parameters=(), secrets=()), "login failed")


def test_silence_may_be_a_wrong_community() -> None:
    """SNMP does not answer whoever has the wrong one: it is named beside the address."""
    order = an_order(parameters=(("ip", "192.0.2.7"),), secrets=(SecretParameter("community", "pdu", "word"),))

    assert "; look at parameters ip, community (secret pdu, key word)" == results.hint(order, "Timeout: No Response")


def test_a_missing_plug_is_named() -> None:
    """An outlet that the device does not know leads to the parameter that names it."""
    order = an_order(parameters=(("ip", "192.0.2.7"), ("plug", "7")))

    assert "; look at parameter plug" == results.hint(order, "Failed: plug 7 not found")


def test_secrets_are_not_in_messages() -> None:
    """Whatever an agent prints of its password, nobody reads it."""
    result = of_deed(an_order(), Ended(1, f"Failed: login as admin with {PASSWORD} refused"), (), (PASSWORD,))

    assert PASSWORD not in result.said
    assert "login as admin with … refused" in result.said


@pytest.mark.parametrize(
    "line",
    [
        "Failed: 401 Unauthorized, session-id=0f1e2d3c",
        "ERROR: set-cookie: sid=0f1e2d3c refused",
        "Error: X-Auth-Token 0f1e2d3c is invalid",
        "failed: Authorization: Basic 0f1e2d3c",
        "failed: {'authorization': 'Bearer 0f1e2d3c'}",
    ],
)
def test_what_a_device_hands_out_is_not_in_messages_either(line: str) -> None:
    """Nobody knows it for a secret, and it opens the device: the line is withheld, and what to look at is named."""
    asked, told = of_status(an_order(Deed.STATUS), Ended(1, line), ()), of_deed(an_order(), Ended(1, line), (), ())
    beside = of_status(an_order(Deed.STATUS), Ended(1, f"ERROR: Unable to login\n{line}\nDelay 5 second(s)"), ())

    assert [] == [one.said for one in (asked, told, beside) if "0f1e2d3c" in one.said]
    assert f"status failed with exit code 1: {results.WITHHELD}; look at parameters username" in asked.said
    assert "status failed with exit code 1: ERROR: Unable to login; look at" in beside.said


def test_a_log_shows_all_but_what_is_secret() -> None:
    """Each line, printable; not the password, nor what a device hands out for a while and we cannot know."""
    printed = f"Connecting as admin with {PASSWORD}\n\n< X-Auth-Token: 0a1b2c\n< 200 \x1b[1mOK\n"

    assert f"off: exit code 0\n  Connecting as admin with …\n  {results.WITHHELD}\n  < 200  OK\n" == (
        results.transcript("off", Ended(0, printed), (PASSWORD,))
    )
    assert "off: did not end in time and was ended\n" == results.transcript("off", OVER, (PASSWORD,))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", ""),
        ("\n \n", ""),
        ("2026-11-15 11:00:00,123 ERROR: Timed out\n", "ERROR: Timed out"),
        ("Error: one\nDelay 5 second(s)\n", "Error: one"),
        ("\x1b[31mfailed\x1b[0m \x00\x07", "failed"),
        ("just words\nmore words", "more words"),
        ("ERROR: Failed: key cannot be 0\nERROR: Please use '-h' for usage", "ERROR: Failed: key cannot be 0"),
        ("Failed: no authorization for it", "Failed: no authorization for it"),
        ("x" * 1000, "x" * 399 + "…"),
    ],
)  # fmt: skip
def test_the_line_that_tells_most(output: str, expected: str) -> None:
    """One printable, short line of all that was printed."""
    assert expected == results.gist(output)


@given(st.binary(max_size=300), st.integers(-64, 255), st.sampled_from(Deed))
@settings(max_examples=100, deadline=None)
def test_garbage_is_survived(printed: bytes, code: int, deed: Deed) -> None:
    """Whatever an agent prints, the message is one short printable line without the secret."""
    ended = Ended(code, printed.decode("utf-8", "replace") + PASSWORD)
    order = an_order(deed)
    with in_time():
        result = of_status(order, ended, (PASSWORD,)) if deed is Deed.STATUS else of_deed(order, ended, (), (PASSWORD,))
        log = results.transcript(deed.value, ended, (PASSWORD,))

    assert PASSWORD not in log
    assert "\x1b" not in log
    assert PASSWORD not in result.said
    assert 1 == len(result.said.splitlines())
    assert 700 > len(result.said)
    assert "\x1b" not in result.said


ZVM = "fence_zvmip"
IMAGES = Ended(0, "MAINT,\nLINUX1,\n")
SHOWN: list[tuple[str, str, Deed, Ended | None, RunState]] = [
    ("it is there", "LINUX1", Deed.OFF, IMAGES, DONE),
    ("it is not there", "LINUX2", Deed.OFF, IMAGES, FAILED),
    ("it is a part of another name", "LINUX", Deed.OFF, IMAGES, FAILED),
    ("there is no plug", "", Deed.OFF, Ended(0, ",\n"), FAILED),
    ("no list", "NOTICE:", Deed.OFF, Ended(0, "NOTICE: List option is not working\n"), FAILED),
    ("the list failed", "LINUX1", Deed.OFF, Ended(1, IMAGES.output), FAILED),
    ("the list did not end", "LINUX1", Deed.OFF, Ended(None, IMAGES.output, Trouble.TOO_LONG), FAILED),
    ("nobody asked for it", "LINUX1", Deed.OFF, None, FAILED),
    ("what is on is on", "LINUX2", Deed.ON, None, DONE),
]


@pytest.mark.parametrize(("plug", "deed", "listed", "state"), [row[1:] for row in SHOWN], ids=[row[0] for row in SHOWN])
def test_off_is_believed_by_the_list_only(plug: str, deed: Deed, listed: Ended | None, state: RunState) -> None:
    """Of an agent that calls off what is not there; of any other nobody needs one."""
    look = OFF if deed is Deed.OFF else ON
    order = an_order(deed, agent=ZVM, parameters=(("ip", "192.0.2.7"), ("plug", plug)))
    asked = an_order(Deed.STATUS, agent=ZVM, parameters=order.parameters)

    for result in (of_deed(order, Ended(0), (look, look), (), listed), of_status(asked, look, (), listed)):
        assert state is result.state, result.said
        assert state is DONE or (Power.UNKNOWN, True) == (result.power, "calls off what is not there" in result.said)


words = st.binary(max_size=60).map(lambda some: some.decode("utf-8", "replace"))
ends = st.builds(Ended, st.sampled_from([0, 1, 2, None]), words, st.sampled_from(Trouble), st.just("no"))
lists = st.lists(st.sampled_from(["LINUX1", "LINUX", ",", "\n", " ", "\x85", "\u2028"]) | words, max_size=8).map(
    "".join
)


@given(st.sampled_from([Deed.OFF, Deed.ON]), ends, st.lists(ends | st.sampled_from([ON, OFF]), max_size=3))
@settings(max_examples=200)
def test_whatever_two_looks_print_only_what_they_say_counts(deed: Deed, ended: Ended, looks: list[Ended]) -> None:
    """Done is what ended well and was seen twice or more, each time, as it should be; nothing else."""
    with in_time():
        result = of_deed(an_order(deed), ended, tuple(looks), (PASSWORD,))

    is_seen = len(looks) >= 2 and {(OFF if deed is Deed.OFF else ON).exit_code} == {look.exit_code for look in looks}
    begins_well = ended.trouble is not Trouble.NOT_STARTED and ended.exit_code == 0
    assert (begins_well and is_seen) == (DONE is result.state)
    assert 1 == len(result.said.splitlines())


@given(lists, st.sampled_from([0, 1, None]))
@settings(max_examples=200)
def test_whatever_a_list_prints_off_needs_the_plug_in_it(printed: str, code: int | None) -> None:
    """At the beginning of a line, and whole."""
    order = an_order(Deed.OFF, agent=ZVM, parameters=(("ip", "192.0.2.7"), ("plug", "LINUX1")))
    with in_time():
        result = of_deed(order, Ended(0), (OFF, OFF), (), Ended(code, printed))

    is_listed = any(re.match(r"\s*LINUX1\s*,", line) for line in printed.splitlines())
    assert (code == 0 and is_listed) == (DONE is result.state)


def test_a_drill_shows_what_the_list_would_not() -> None:
    """The plug is on, and its list was asked for: a plug that it does not have is told by day."""
    order = an_order(Deed.STATUS, agent=ZVM, parameters=(("ip", "192.0.2.7"), ("plug", "LINUX2")))
    result = of_status(order, ON, (), IMAGES)

    assert FAILED is result.state
    assert "its list has no LINUX2; correct plug=" in result.said
