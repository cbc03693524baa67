"""What an agent says of itself, and where agents are found."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from noderemedy.drivers.fence import agents
from noderemedy.drivers.fence.describe import document_in, metadata

DOCUMENT = '<?xml version="1.0" ?><resource-agent name="x"></resource-agent>'
BY_STDIN = f"""#!/bin/sh
[ $# = 0 ] && grep -q '^action=metadata$' && echo 'a warning' >&2 && echo '{DOCUMENT}'
"""
BY_ARGUMENT = f"""#!/bin/sh
[ "$*" = "-o metadata" ] && echo '{DOCUMENT}' && exit 0
echo usage; exit 1
"""
SAYS_NOTHING = "#!/bin/sh\nexit 0\n"


def write(folder: Path, text: str, name: str = "fence_x") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("text", "expected"), [(BY_STDIN, DOCUMENT), (BY_ARGUMENT, DOCUMENT), (SAYS_NOTHING, "")])
def test_an_agent_is_asked_both_ways(text: str, expected: str, tmp_path: Path) -> None:
    """By standard input, and if that tells nothing, by argument; warnings around the document are left out."""
    write(tmp_path, text)

    assert expected == asyncio.run(metadata("fence_x", (tmp_path,)))


def test_an_agent_that_is_not_installed(tmp_path: Path) -> None:
    """None is another answer than nothing."""
    assert None is asyncio.run(metadata("fence_x", (tmp_path,)))


@pytest.mark.parametrize("printed", ["", "garbage", "</resource-agent><?xml", "<resource-agent>"])
def test_no_document(printed: str) -> None:
    """Half a document is none."""
    assert "" == document_in(printed)


def test_the_setting_comes_first(tmp_path: Path) -> None:
    """An administrator's own agent wins over the distribution's."""
    for name in ("own", "path"):
        write(tmp_path / name, SAYS_NOTHING)
    where = agents.folders(str(tmp_path / "own"), {"PATH": f"{tmp_path / 'path'}:relative"})

    assert tmp_path / "own" / "fence_x" == agents.find("fence_x", where)
    assert [] == [folder for folder in where if not folder.is_absolute()]


def test_what_is_installed(tmp_path: Path) -> None:
    """Executable files with the name of an agent, each once."""
    write(tmp_path, SAYS_NOTHING)
    write(tmp_path, SAYS_NOTHING, "fence_y")
    write(tmp_path, SAYS_NOTHING, "other")
    (tmp_path / "fence_z").write_text("no program")

    assert ("fence_x", "fence_y") == agents.installed((tmp_path, tmp_path))
