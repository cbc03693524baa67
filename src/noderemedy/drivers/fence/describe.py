"""Asks an agent what it is: its metadata, as bytes. `wire/fenceagent.py` reads them.

The order is that of cluster managers: by standard input first, then by argument, since some agents know only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from noderemedy.drivers.fence import agents
from noderemedy.drivers.fence.process import run_agent

PATIENCE_S = 20.0
METADATA_MAX = 1024 * 1024
BEGIN, END = "<?xml", "</resource-agent>"


async def metadata(agent: str, folders: tuple[Path, ...], environ: Mapping[str, str] | None = None) -> str | None:
    """The metadata of an agent; None if it is not installed; "" if it tells nothing of itself."""
    path = agents.find(agent, folders)
    if path is None:
        return None
    for parameters, arguments in (((("action", "metadata"),), ()), ((), ("-o", "metadata"))):
        ended = await run_agent(
            path, parameters, PATIENCE_S, environ=environ, arguments=arguments, output_max=METADATA_MAX
        )
        if document := document_in(ended.output):
            return document
    return ""


def document_in(printed: str) -> str:
    """The XML document in what was printed: warnings may stand around it."""
    end = printed.find(END)
    begin = printed.find(BEGIN)
    if begin < 0:
        begin = printed.find("<resource-agent")
    return printed[begin : end + len(END)] if 0 <= begin < end else ""
