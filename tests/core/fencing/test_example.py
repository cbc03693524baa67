"""The example of a health check that has nodes fenced: the API takes it, and its requests fence."""

from __future__ import annotations

from pathlib import Path

import yaml
from tests.core.fencing.story import Story
from tests.core.fencing.test_request import request, told

EXAMPLE = Path(__file__).parents[3] / "examples" / "fence-remediation" / "fence.yaml"


def test_the_example_is_taken_and_its_requests_fence() -> None:
    """Template and check are valid; a request with the template's spec has the node fenced and recovered."""
    story = Story()
    story.machine()
    template, check = yaml.safe_load_all(EXAMPLE.read_text())
    story.api.create(template)
    story.api.create(check)
    story.hang()
    story.run(65)
    request(story, **template["spec"]["template"]["spec"])
    story.run_until(lambda: told(story).phase.value == "recovered", 300)

    assert (1, "FenceRemediationTemplate") == (
        story.fence.spec.max_restarts,
        check["spec"]["externalRemediationTemplate"]["kind"],
    )
