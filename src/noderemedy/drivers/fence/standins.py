"""Programs of ours that agents start in the place of theirs, so that an answer is looked at before it counts as off.

Called by `verify.py`, for questions only: what switches something is the agent's own. A stand-in is run by a file of
this folder, without any package, wherever the agent is: here, in a Job, on a node.
"""

from __future__ import annotations

import shlex
import sys
from types import ModuleType

from noderemedy.core.fencing.scopes import ANSWERS, RESERVED
from noderemedy.drivers.fence import persist, snmpget

PYTHON = (sys.executable, "-I", "-S")


def for_status(agent: str) -> tuple[tuple[str, str], ...]:
    """The parameters by which this agent asks through one; most have none."""
    if agent in ANSWERS:
        return (("snmpget_path", through(snmpget, ANSWERS[agent])),)
    if agent in RESERVED:
        parameter, program = RESERVED[agent]
        return ((parameter, through(persist, program)),)
    return ()


def through(standin: ModuleType, first: str) -> str:
    """The line that agents put before their arguments, and split as a shell would."""
    return shlex.join([*PYTHON, str(standin.__file__), first])
