"""The folder of a lab: private files, one lab at a time, nothing stale left."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from noderemedy.lab import files
from noderemedy.lab.files import Folder
from noderemedy.model.errors import Permanent


def test_kubeconfigs_were_never_readable_by_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with a careless umask, and where a readable file lay before, the mode is 0600."""
    before = os.umask(0)
    try:
        (tmp_path / "kubeconfig").write_text("old")
        folder = Folder(tmp_path)
        folder.write("new", "manager's")
    finally:
        os.umask(before)

    assert 0o600 == stat.S_IMODE(folder.kubeconfig.stat().st_mode)
    assert ("new", "manager's") == (folder.kubeconfig.read_text(), folder.manager_kubeconfig.read_text())
    folder.close()


def test_one_lab_per_folder(tmp_path: Path) -> None:
    """A second lab is refused while the first holds the folder, and welcome afterwards."""
    first = Folder(tmp_path)
    with pytest.raises(Permanent, match=r"a lab runs in .* already"):
        Folder(tmp_path)
    first.close()

    Folder(tmp_path).close()


def test_an_ended_lab_leaves_no_kubeconfig(tmp_path: Path) -> None:
    """What only worked while the lab ran is taken away at its end."""
    folder = Folder(tmp_path / "deep" / "lab")
    folder.write("a", "b")
    folder.close()

    assert [".gitignore", "lock"] == sorted(path.name for path in folder.path.iterdir())


def test_the_default_folder_is_in_the_working_folder() -> None:
    """`.lab`, wherever one is."""
    assert Path(".lab") == files.DEFAULT
