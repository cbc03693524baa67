"""What a plan switches off it switches on again: a plan that would leave a node dark or cut off is refused."""

from __future__ import annotations

import pytest
from tests.builders import a_node
from tests.core.fencing.configuring import Bench, printed

from noderemedy.model.reasons import FenceConfigInvalid

HEAD = "ConfigMap fence-config-n1, node n1, method"
OFF_ONLY = f"{HEAD} m: it switches off"
SAME = "write the same in both"
PDU, SWITCH = "template=fence-method-template-pdu\nplug=1", "template=fence-method-template-switch\nplug=2"
BOTH = "or leave action=off out, which is off and on"
AGAIN = f"add a method with action=on for it, {BOTH}"
IN_AGAIN = "add one with action=on and the same parameters"


def config(words: str, **methods: str) -> dict[str, str]:
    named = {f"fence-method-{name.replace('_', '-')}": text for name, text in methods.items()}
    return {"config.properties": f"node_name=n1\n{words}", **named}


def cloud(words: str) -> Bench:
    """A node that is an instance of a cloud, whose template is there."""
    bench = Bench()
    bench.node("n1", a_node("uid-n1", provider_id="aws:///eu-west-1a/i-0123"))
    bench.write("fence-method-template-aws", {"template.properties": "agent=fence_aws\naccess_key=secret:a/b"})
    if words:
        bench.write("fence-config-n1", config(words, fc=SWITCH))
    return bench


ALONE: list[tuple[dict[str, str], str]] = [  # the document, what is refused
    (
        config("power_management=m", m=f"{PDU}\naction=off"),
        f"{OFF_ONLY} ip=10.0.0.9 plug=1, and nothing in power_management switches that on again; {AGAIN}",
    ),
    (
        printed("n1") | {"fence-method-eaton-on": f"{PDU.replace('=1', '=7')}\naction=on"},
        f"{HEAD} eaton-off: it switches off ip=10.0.0.9 plug=2, and nothing in power_management switches that on "
        f"again; eaton-on has plug=7: {SAME}",
    ),
    (
        config("isolation=mark-unschedulable fc\npower_management=m\nrecovery=mark-schedulable", m=PDU, fc=SWITCH),
        f"{HEAD} fc: it cuts the node off at ip=10.0.0.8 plug=2, and nothing in recovery lets it in again; {IN_AGAIN}",
    ),
    (
        config("isolation=fc\npower_management=m", m=PDU, fc=SWITCH),
        f"{HEAD} fc: it cuts the node off at ip=10.0.0.8 plug=2, and nothing in recovery lets it in again; {IN_AGAIN}",
    ),
    (
        printed("n1") | {"fence-method-fc-on": f"{SWITCH.replace('=2', '=9')}\naction=on"},
        f"{HEAD} fc-off: it cuts the node off at ip=10.0.0.8 plug=2, and nothing in recovery lets it in again; "
        f"fc-on has plug=9: {SAME}",
    ),
    (
        config("power_management=off on", off=f"{PDU}\nipport=161\naction=off", on=f"{PDU}\naction=on"),
        f"{HEAD} off: it switches off ip=10.0.0.9 ipport=161 plug=1, and nothing in power_management switches that on "
        f"again; on has no ipport: {SAME}",
    ),
    (
        config("power_management=off on host-power", off=f"{PDU}\naction=off", on=f"{PDU[:-1]}3\naction=on"),
        f"{HEAD} off: it switches off ip=10.0.0.9 plug=1, and nothing in power_management switches that on again; on "
        f"has plug=3: {SAME}",
    ),
]


@pytest.mark.parametrize(("data", "problem"), ALONE)
def test_what_is_never_switched_on_again_is_refused(data: dict[str, str], problem: str) -> None:
    """By the method, what it switches, and what to write; the ConfigMap tells it, and the node is not fenced."""
    bench = Bench()
    bench.write("fence-config-n1", data)

    assert (problem,) == bench.problems()
    assert [problem] == [one.problem for one in bench.said("fence-config-n1") if isinstance(one, FenceConfigInvalid)]


PAIRED = [
    printed("n1"),
    config("power_management=m", m=PDU),
    config("power_management=m", m=f"{PDU}\naction=reboot"),
    config("power_management=on off", off=f"{PDU}\naction=off", on=f"{PDU}\naction=on"),
    config("power_management=off on", off=f"{PDU}\naction=off\npower_timeout=5", on=f"{PDU}\naction=on\ntimeout=9"),
    config("power_management=off all", off=f"{PDU}\naction=off", all=PDU),
    config("isolation=fc\npower_management=m\nrecovery=fc", m=PDU, fc=SWITCH),
    config("power_management=host-power"),
]


@pytest.mark.parametrize("data", PAIRED)
def test_what_is_switched_on_again_is_a_plan(data: dict[str, str]) -> None:
    """By one method or two, in any order, however long they may take; a host comes on when it is let go."""
    bench = Bench()
    bench.write("fence-config-n1", data)

    assert () == bench.problems()


@pytest.mark.parametrize(
    "words",
    ["", "power_management=restart-instance", "power_management=terminate", "isolation=fc\npower_management=terminate"],
)
def test_an_instance_that_is_ended_need_not_come_on(words: str) -> None:
    """`terminate` is off for good, and nobody waits for what it was cut off from."""
    assert () == cloud(words).problems()


def test_of_a_document_that_is_wrong_otherwise_nobody_says_what_it_would_leave_off() -> None:
    """The method that switches on may be the one with the mistake: one mistake is told as one."""
    bench = Bench()
    bench.write("fence-config-n1", printed("n1") | {"fence-method-eaton-on": f"{PDU}\naction=on\nzzz=1"})

    (problem,) = bench.problems()
    assert "parameter zzz" in problem
