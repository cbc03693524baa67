"""What agents print about themselves: read where it can be, survived where it cannot."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzzing import in_time
from tests.wire.agents import AGENTS, DISK, PDU

from noderemedy.model.agent import AgentAction, AgentDescription, Parameter, Sort
from noderemedy.wire.fenceagent import DEPTH_MAX, LETTERS_MAX, PARTS_MAX, read_metadata


def test_parameters_are_read_with_type_default_and_options() -> None:
    """Also who is another name of whom."""
    pdu = AGENTS["fence_pdu"]

    assert "Invented fence_pdu" == pdu.about
    assert Parameter("ipport", Sort.INTEGER, default="623", about="About ipport") == pdu.find("ipport")
    expected = Parameter("method", Sort.SELECT, default="onoff", options=("onoff", "cycle"), about="About method")
    assert expected == pdu.find("method")
    assert Parameter("plug", is_required=True, obsoletes="port", about="About plug") == pdu.find("plug")
    assert pdu.find("plug") == pdu.find("port")
    assert pdu.find("nothing") is None


def test_actions_are_read_with_where_they_run() -> None:
    """An "on" that has to run on the node itself is told apart."""
    assert AgentAction("on", on_target=True, automatic=True) in AGENTS["fence_disk"].actions
    assert AGENTS["fence_pdu"].can("reboot")
    assert not AGENTS["fence_switch"].can("reboot")


def test_warnings_before_the_document_are_skipped() -> None:
    """Some agents complain about the Python that runs them before they answer."""
    noisy = f"DeprecationWarning: <pipes> is deprecated\n{DISK}"

    assert AGENTS["fence_disk"] == read_metadata("fence_disk", noisy)


def test_other_names_of_the_same_agent_are_known() -> None:
    """Its links are in the metadata."""
    text = PDU.replace("<parameters>", '<symlink name="fence_old" shortdesc="x"/><parameters>', 1)

    assert ("fence_old",) == read_metadata("fence_pdu", text).other_names


def test_what_an_agent_would_choose_by_itself_is_required() -> None:
    """Behind one BMC may be several systems: which one is a node's nobody leaves to the agent."""
    text = PDU.replace('name="ipport"', 'name="systems_uri"')

    found = read_metadata("fence_redfish", text).find("systems_uri")
    assert found is not None
    assert found.is_required
    other = read_metadata("fence_pdu", text).find("systems_uri")
    assert other is not None
    assert not other.is_required


def test_unknown_types_count_as_texts() -> None:
    """Nothing is refused because an agent is newer than we are."""
    text = PDU.replace('type="integer"', 'type="quaternion"')
    found = read_metadata("x", text).find("ipport")

    assert found is not None
    assert Sort.STRING is found.sort


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><resource-agent name="&b;"/>'
GARBAGE = [
    ("", "it prints no metadata"),
    ("usage: fence_ack_manual <nodename>", "it prints no metadata"),
    (PDU[:-40], "its metadata is not XML"),
    (f'<?xml version="1.0"?>{BOMB}', "its metadata has a document type"),
    ("<?xml version='1.0'?><other/>", "its metadata begins with 'other'"),
    ("<resource-agent/>", "names no parameter and no action"),
    ("<resource-agent>" + "<x>" * DEPTH_MAX, "nested too deeply"),
    ("<resource-agent>" + '<action name="off"/>' * (PARTS_MAX + 1), "too many parts"),
    ("<resource-agent>" + " " * LETTERS_MAX, "longer than"),
    (PDU.replace("About ip", "\ud800"), "characters that cannot be read"),
]


@pytest.mark.parametrize(("text", "problem"), GARBAGE, ids=[problem for _, problem in GARBAGE])
def test_garbage_is_a_description_with_a_problem(text: str, problem: str) -> None:
    """It names what is wrong, and there is nothing else in it."""
    found = read_metadata("fence_x", text)

    assert problem in found.problem
    assert AgentDescription("fence_x", problem=found.problem) == found


PIECES = [
    '<?xml version="1.0"?>',
    "<resource-agent>",
    "</resource-agent>",
    "<parameters>",
    '<parameter name="a">',
    "</parameter>",
    "&amp;",
    '<content type="select">',
    "<option/>",
    "</content>",
    '<action name="off"/>',
    "&x;",
    "<",
    "x",
    "<!DOCTYPE x>",
    "<![CDATA[",
    "]]>",
    "\x00",
    "é",
    "<shortdesc>",
    "</shortdesc>",
]
pieces = st.sampled_from(PIECES)


@settings(max_examples=100)
@given(st.lists(pieces | st.text(max_size=5), max_size=30).map("".join))
def test_no_text_raises(text: str) -> None:
    """Whatever an agent prints, it is described or has a problem, never both."""
    with in_time():
        found = read_metadata("fence_x", text)

    assert bool(found.problem) != bool(found.parameters or found.actions)
