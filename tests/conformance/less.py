"""What the simulation does not do, by the name of the case, with the reason. Short by intention.

These cases run on the real API server only. A case listed here that passes on the simulation is a failure:
the entry is then a lie and must go.
"""

from __future__ import annotations

LESS: dict[str, str] = {
    "customkinds:rules_are_checked": "validation rules are written in CEL, for which the simulation has no interpreter",
}
