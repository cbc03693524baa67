"""The truth table of seed 001: rendered back to the seed's text, and every row through `decide`."""

from __future__ import annotations

import pytest
from tests.builders import NOW, a_backup, a_host, a_machine, a_node, a_view, ago

from noderemedy.core.metal3.annotation import ANSWERS, TABLE, Row, Says, decide, row
from noderemedy.core.metal3.view import MachineView
from noderemedy.model.actions import (
    AddRebootAnnotation,
    DeleteNode,
    RemoveRebootAnnotation,
    RemoveRemediationAnnotation,
)
from noderemedy.model.host import Power
from noderemedy.model.reasons import TableRow

# As printed in seed 001 (001_7b3e72bb3955c36c), its slip of the pen included.
SEED = """\
|Node Ref exists?|Needs remediation annotation|Powered on?|Reboot annotation|MRC action|
|:-:|:-:|:-:|:-:|---|
|0|1|1|0|Add reboot annotation|
|1|1|1|0|Add reboot annotation|
|1|1|0|1|Delete node|
|0|0|1|0|nothing|
|0|0|1|1|nothing|
|0|1|0|0|nothing|
|0|1|1|1|nothing|
|1|0|0|0|nothing|
|1|0|1|0|nothing|
|1|0|1|1|nothing|
|1|1|0|0|nothing|
|1|1|1|1|nothing|
|0|1|0|1|Remove needs-remediation annoation|
|0|0|0|1|Remove reboot annotation|
|1|0|0|1|Remove reboot annotation|
"""
SLIP, MEANT = "annoation", "annotation"
MISSING = row(0, 0, 0, 0)
EXPECTED_ACTION = {
    Says.ADD: AddRebootAnnotation,
    Says.DELETE: DeleteNode,
    Says.UNMARK: RemoveRemediationAnnotation,
    Says.RELEASE: RemoveRebootAnnotation,
}


def printed() -> dict[Row, Says]:
    """The seed's rows, read from its text; and the one that it forgot."""
    rows = [line.strip("|").split("|") for line in SEED.replace(SLIP, MEANT).splitlines()[2:]]
    return {**{row(*map(int, cells[:4])): Says(cells[4]) for cells in rows}, MISSING: Says.NOTHING}


EXPECTED = printed()
each_row = pytest.mark.parametrize("found", EXPECTED, ids=lambda r: f"{r.node:d}{r.needs:d}{r.on:d}{r.held:d}")


def rendered(table: dict[Row, Says]) -> str:
    """A table in the seed's Markdown."""
    head = SEED.splitlines()[:2]
    rows = [f"|{r.node:d}|{r.needs:d}|{r.on:d}|{r.held:d}|{says.value}|" for r, says in table.items()]
    return "\n".join([*head, *rows, ""])


def view_of(r: Row) -> MachineView:
    """A view to which this row applies, with everything read live, and the backup stored where one is needed."""
    return a_view(
        a_machine(
            needs=r.needs,
            backup=a_backup() if r.node and r.needs else None,
            node_deleted_at=ago(1) if r.node and r.needs else None,
        ),
        a_host(power=Power.ON if r.on else Power.OFF, held=r.held),
        a_node(ready="Unknown" if r.held and not r.on else "True") if r.node else None,
    )


def test_the_table_reads_as_the_seed_prints_it() -> None:
    """Without the one row that the seed forgot, the table renders to the seed's text, slip of the pen aside."""
    fifteen = {found: says for found, says in TABLE.items() if found != MISSING}

    assert 1 == SEED.count(SLIP)
    assert SEED.replace(SLIP, MEANT) == rendered(fifteen)


def test_the_row_that_the_seed_forgot_says_nothing() -> None:
    """The sixteenth row is there, it is the last one, and it says nothing."""
    assert (MISSING, Says.NOTHING) == list(TABLE.items())[-1]


def test_the_table_is_total() -> None:
    """Every combination of the four columns has a row, and everything that a row can say has an answer."""
    bits = (0, 1)

    assert sorted(row(a, b, c, d) for a in bits for b in bits for c in bits for d in bits) == sorted(TABLE)
    assert set(Says) == set(ANSWERS)


@each_row
def test_each_row_does_what_it_says(found: Row) -> None:
    """Through `decide`, a row leads to its action or to none, and the reason names the row."""
    says = EXPECTED[found]
    view = view_of(found)

    decision = decide(view, NOW)

    expected = [EXPECTED_ACTION[says]] if says in EXPECTED_ACTION else []
    assert expected == [type(action) for action in decision.actions]
    if view.is_in_hand:
        reason = TableRow(int(found.node), int(found.needs), int(found.on), int(found.held), says.value)
        assert reason == decision.because[0]
    else:
        assert () == decision.because


@each_row
def test_actions_are_aimed_at_the_right_object(found: Row) -> None:
    """Each action names its object, with the uid and the version that it was decided on."""
    view = view_of(found)
    aims = {
        AddRebootAnnotation: (view.host_at, "host-uid-1", "102"),
        RemoveRebootAnnotation: (view.host_at, "host-uid-1", "102"),
        RemoveRemediationAnnotation: (view.ref, "machine-uid-1", "101"),
        DeleteNode: (view.node_at, "node-uid-1", "103"),
    }

    for action in decide(view, NOW).actions:
        assert isinstance(
            action, AddRebootAnnotation | RemoveRebootAnnotation | RemoveRemediationAnnotation | DeleteNode
        )
        assert aims[type(action)] == (action.ref, action.guard.uid, action.guard.resource_version)
