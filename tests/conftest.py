"""Settings of the property tests, the order of the files (`tests/order.py`), and what counts as a skip.

Property tests try the same examples in every run; with --hypothesis-profile=rotating (`make fuzz`) fresh ones, and no
fewer than that profile says, whatever a test asks for. An end-to-end test whose programs are missing is skipped and
named in the summary; with CI=true a skip is a failure, because a green run must mean that all was tested.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings
from tests.fuzzing import ask_more
from tests.order import search_less, turn

settings.register_profile(
    "fixed",
    deadline=None,
    derandomize=True,
    max_examples=50,  # of properties that ask for no number; under these each sabotage of theirs is seen
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=False,
)
settings.register_profile(
    "rotating", settings.get_profile("fixed"), derandomize=False, max_examples=2_000, print_blob=True
)
settings.load_profile("fixed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; `make test` takes them in this order."""
    items.sort(key=lambda item: turn(item.path))
    profile = settings()
    for item in items if not profile.derandomize else ():
        ask_more(item, profile.max_examples)


def pytest_collection_finish() -> None:
    search_less()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI=true an end-to-end test that was skipped has failed: it says nothing about the code."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and item.get_closest_marker("e2e"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI=true allows no skip: {report.longrepr}"
    return report
