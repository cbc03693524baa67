"""Settings of the property tests: the same examples in every run, or fresh ones with --hypothesis-profile=rotating."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.register_profile("rotating", settings.get_profile("fixed"), derandomize=False, max_examples=2_000)
settings.load_profile("fixed")
