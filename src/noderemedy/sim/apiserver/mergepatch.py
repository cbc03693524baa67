"""JSON merge patch (RFC 7396) that shares what it does not change."""

from __future__ import annotations

from typing import Any


def merge(target: Any, patch: Any) -> Any:
    """The target after the patch. Where nothing changes, the very same value comes back."""
    if not isinstance(patch, dict):
        return patch
    if not isinstance(target, dict):
        return merge({}, patch) if patch else {}
    result = None
    for key, value in patch.items():
        old = target.get(key)
        if value is None:
            if key in target:
                result = dict(target) if result is None else result
                del result[key]
            continue
        new = merge(old, value) if isinstance(value, dict) else value
        if new is not old and (new != old or type(new) is not type(old)):
            result = dict(target) if result is None else result
            result[key] = new
    return target if result is None else result
