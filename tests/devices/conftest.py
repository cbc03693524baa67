"""Every test of this folder is end-to-end: it needs a real device, or a program that behaves like one."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks them, so that none can slip into `make test`."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
