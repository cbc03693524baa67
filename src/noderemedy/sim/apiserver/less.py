"""What the simulated API server does less than a real one, by name. The conformance suite prints it."""

from __future__ import annotations

LESS_THAN_REAL: dict[str, str] = {
    "cel-rules": "x-kubernetes-validations of custom kinds are stored and not evaluated",
    "admission-policies": "ValidatingAdmissionPolicies and webhooks are stored and not enforced; use `server.hooks`",
    "rbac": "roles are enforced only after `server.enforce_roles()`; before, everybody may do everything",
    "authentication": "tokens and certificates are the caller's business; TokenReview authenticates nobody",
    "conversion": "served versions of a custom kind differ in apiVersion only; conversion webhooks are not called",
    "built-in-defaults": "of built-in kinds only defaults that controllers and kubectl depend on are filled in",
    "built-in-validation": "of built-in kinds only metadata, types and the rules in `kinds.py` are checked",
    "element-order": "$setElementOrder of strategic merge is accepted and not followed",
    "quota-and-priority": "ResourceQuota, LimitRange, PriorityClass and API priority and fairness do nothing",
    "service-addresses": "Services get no cluster IP",
    "openapi": "no schemas are published, so `kubectl explain` has nothing to say",
    "protobuf": "protobuf is read and never written; CBOR is not spoken",
    "last-applied-migration": "fields of client-side apply are not taken over by server-side apply",
    "managers-cap": "the number of managedFields entries is not limited",
    "generate-name-retry": "a generated name that is taken is refused at once, not tried again",
    "pod-subresources": "log, exec, attach, port-forward, proxy, ephemeralcontainers and resize are not served",
}
