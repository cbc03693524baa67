"""MachineHealthChecks as JSON trees, in the words of each API version."""

from __future__ import annotations

from typing import Any

from noderemedy.model.healthcheck import Dialect, HealthCheck
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK
from noderemedy.wire.objects import convert

SEED, V1BETA1, V1BETA2 = (f"cluster.x-k8s.io/{version}" for version in ("v1alpha3", "v1beta1", "v1beta2"))
OPENSHIFT = "machine.openshift.io/v1beta1"
API_VERSIONS: dict[Dialect, tuple[str, ...]] = {
    Dialect.SEED: (SEED,),
    Dialect.CAPI: (V1BETA1, V1BETA2),
    Dialect.OPENSHIFT: (OPENSHIFT,),
}
WORKERS = {"matchLabels": {"role": "worker"}}


def a_check_tree(
    spec: Any = None, *, api_version: str = SEED, annotations: dict[str, str] | None = None
) -> dict[str, Any]:
    """A check with this spec; whatever it needs besides is there."""
    usual: dict[str, Any] = {"selector": WORKERS}
    if api_version in (V1BETA1, V1BETA2):
        usual["clusterName"] = "east"
    return {
        "apiVersion": api_version,
        "kind": "MachineHealthCheck",
        "metadata": {
            "name": "example",
            "namespace": "machine-api",
            "uid": "check-uid-1",
            "resourceVersion": "105",
            "generation": 3,
            "creationTimestamp": "2030-01-01T00:00:00Z",
            "annotations": annotations or {},
        },
        "spec": {**usual, **spec} if isinstance(spec, dict) else usual if spec is None else spec,
    }


def read(spec: Any = None, *, api_version: str = SEED, annotations: dict[str, str] | None = None) -> HealthCheck:
    """The check as the watch would hand it on."""
    kind = OPENSHIFT_HEALTH_CHECK if api_version == OPENSHIFT else HEALTH_CHECK
    found = convert(kind, a_check_tree(spec, api_version=api_version, annotations=annotations)).obj
    assert isinstance(found, HealthCheck)
    return found
