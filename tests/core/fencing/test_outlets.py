"""What a list of outlets shows, row by row: garbage is no list, and an error in the place of a name is no outlet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.fencing.orders import an_order

from noderemedy.core.fencing.outlets import unlisted

PDU = "1,one\n2,two\n3,three\n"
APC, BLADE, ZVM = "fence_apc_snmp", "fence_ibmblade", "fence_zvmip"
NO_OUTLETS = "; what it lists are no outlets"
CASES: list[tuple[str, str, dict[str, str], str, str]] = [  # why, agent, parameters, what it prints, what is said
    ("it is there", APC, {"plug": "2"}, PDU, ""),
    ("it is not there", APC, {"plug": "24"}, PDU, "its list has no outlet 24; correct plug="),
    ("a part of a number is another one", APC, {"plug": "1"}, "11,a\n21,b\n", "no outlet 1;"),
    ("by its name", APC, {"plug": "two"}, PDU, ""),
    ("no name of this device", APC, {"plug": "four"}, PDU, "no outlet four;"),
    ("a number is never a name", APC, {"plug": "24"}, "1,24\n2,two\n", "no outlet 24;"),
    ("this agent takes no names", BLADE, {"plug": "two"}, PDU, "no outlet two;"),
    ("of a switch", APC, {"plug": "3", "switch": "2"}, "2:3,a\n2:4,b\n", ""),
    ("of another switch", APC, {"plug": "3", "switch": "1"}, "2:3,a\n2:4,b\n", "no outlet 3;"),
    ("several", APC, {"plug": "1, 3"}, PDU, ""),
    ("one of several is not there", APC, {"plug": "1,24"}, PDU, "no outlet 24;"),
    ("with separators of its own", APC, {"plug": "1+2", "plug_separator": "+", "separator": "|"}, "1|a\n2|b\n", ""),
    ("an image of z/VM", ZVM, {"plug": "LINUX1"}, "MAINT,\nLINUX1,\n", ""),
    ("an image that is not defined", ZVM, {"plug": "LINUX2"}, "MAINT,\nLINUX1,\n", "no outlet LINUX2;"),
    ("nothing", APC, {"plug": "1"}, "", f"no outlet 1{NO_OUTLETS}"),
    ("no list at all", APC, {"plug": "1"}, "NOTICE: List option is not working on this device yet\n", NO_OUTLETS),
    ("the error of a table that is not there", BLADE, {"plug": "4"}, "4,\n", f"no outlet 4{NO_OUTLETS}"),
    ("an error as a name", APC, {"plug": "2"}, "1,one\n2,No Such Instance currently exists\n3,c\n", "no outlet 2;"),
    ("words with a comma", APC, {"plug": "1"}, "2030-01-01 10:00:00,1 ERROR: x\n1,one\n", NO_OUTLETS),
    ("no plug", APC, {}, PDU, "no outlet ;"),
    ("an empty separator", APC, {"plug": "1", "separator": ""}, PDU, NO_OUTLETS),
]


@pytest.mark.parametrize(("agent", "values", "printed", "said"), [row[1:] for row in CASES], ids=[r[0] for r in CASES])
def test_an_outlet_is_there_or_named(agent: str, values: dict[str, str], printed: str, said: str) -> None:
    """Each plug of the order must be in the list; the first that is not is told by name."""
    found = unlisted(an_order(agent=agent, parameters=tuple(values.items())), printed)

    assert said in found
    assert bool(said) == bool(found)


@given(st.text(max_size=200))
def test_garbage_shows_nothing(printed: str) -> None:
    """Whatever is printed: without the plug itself at the beginning of a line nothing is believed."""
    order = an_order(agent=BLADE, parameters=(("plug", "24"),))

    assert unlisted(order, printed) or any(line.strip().startswith(("24", "1:24")) for line in printed.splitlines())
