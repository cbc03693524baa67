"""The folder of a running lab: kubeconfigs for people and for the manager, readable by their owner only.

`Folder` is taken by one lab at a time; `node-remedy lab fault` reads the kubeconfig from it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from noderemedy.model.errors import Permanent

DEFAULT = Path(".lab")


class Folder:
    """A folder held by this process until `close`, or until it ends in whatever way."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kubeconfig = path / "kubeconfig"
        self.manager_kubeconfig = path / "manager.kubeconfig"
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            _write(path / ".gitignore", "*\n")  # nobody commits a token by accident
        except OSError as problem:
            raise Permanent(f"cannot use the folder {path}: {problem.strerror}; name another with --dir") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise Permanent(f"a lab runs in {path} already; end it, or name another folder with --dir") from None

    def write(self, kubeconfig: str, manager_kubeconfig: str) -> None:
        _write(self.kubeconfig, kubeconfig)
        _write(self.manager_kubeconfig, manager_kubeconfig)

    def close(self) -> None:
        """Take away what only worked while the lab ran."""
        self.kubeconfig.unlink(missing_ok=True)
        self.manager_kubeconfig.unlink(missing_ok=True)
        os.close(self._lock)


def _write(path: Path, text: str) -> None:
    """A file that was never readable by others, not even for a moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        file.write(text)
