"""Refusals, worded as a real API server words them, because clients read the words.

Rule 1: every refusal of this package is an `ApiError` made by one of the functions here.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from noderemedy.sim.apiserver.types import ResourceType


class Cause(Struct, frozen=True):
    """One reason among several, with the field it is about."""

    reason: str
    message: str
    field: str = ""

    def tree(self) -> dict[str, Any]:
        found = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in found.items() if value}


class ApiError(Exception):
    """A refusal: an HTTP status code with the Status object that goes with it."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.continue_token = ""

    def status(self) -> dict[str, Any]:
        """The Status object that a client receives."""
        meta = {"continue": self.continue_token} if self.continue_token else {}
        found: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": meta, "status": "Failure"}
        found["message"] = self.message
        if self.reason:
            found["reason"] = self.reason
        if self.details:
            found["details"] = self.details
        return {**found, "code": self.code}


def _about(resource: ResourceType, name: str) -> dict[str, Any]:
    found = {"name": name, "group": resource.kind.group, "kind": resource.plural}
    return {key: value for key, value in found.items() if value}


def not_found(resource: ResourceType, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _about(resource, name))


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: ResourceType, name: str) -> ApiError:
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _about(resource, name))


def conflict(resource: ResourceType, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, _about(resource, name))


def stale(resource: ResourceType, name: str) -> ApiError:
    """The object was changed since the writer read it."""
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(resource, name, why)


def apply_conflict(causes: Sequence[Cause], message: str) -> ApiError:
    return ApiError(409, "Conflict", message, {"causes": [cause.tree() for cause in causes]})


def invalid(resource: ResourceType, name: str, causes: Sequence[Cause]) -> ApiError:
    kind = resource.kind
    qualified = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
    said = [f"{cause.field}: {cause.message}" if cause.field else cause.message for cause in causes]
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    details = {"name": name, "group": kind.group, "kind": kind.kind}
    details = {key: value for key, value in details.items() if value}
    whole: dict[str, Any] = {**details, "causes": [cause.tree() for cause in causes]}
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', whole)


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


class Undecodable(ApiError):
    """A document that is no object of its kind: a bad request, and in a patch an invalid patch."""

    def __init__(self, message: str) -> None:
        super().__init__(400, "BadRequest", message)

    def of_patch(self) -> ApiError:
        """The same, where a patch has led to it."""
        cause = Cause("FieldValueInvalid", f"Invalid value: {self.message}", "patch")
        return ApiError(422, "Invalid", f' "" is invalid: patch: {cause.message}', {"causes": [cause.tree()]})


def untyped(api_version: str, kind: str, name: str, unknown: Sequence[str]) -> ApiError:
    """An applied configuration must fit the schema of its kind, whatever the validation asked for."""
    said = [f".{path}: field not declared in schema" for path in unknown]
    text = said[0] if len(said) == 1 else "errors:\n" + "\n".join(f"  {one}" for one in said)
    return ApiError(500, "", f"failed to create typed patch object (/{name}; {api_version}, Kind={kind}): {text}")


def forbidden(resource: ResourceType, name: str, why: str) -> ApiError:
    subject = f'{resource.qualified} "{name}"' if name else resource.qualified
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {why}", _about(resource, name))


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_old(asked: int, oldest: int) -> ApiError:
    return expired(f"too old resource version: {asked} ({oldest})")


def too_large(asked: int, newest: int) -> ApiError:
    """Asked for a state that this server has not reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    message = f"Timeout: Too large resource version: {asked}, current: {newest}"
    return ApiError(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def too_many_requests(message: str, causes: Sequence[Cause] = (), retry_after: int = 0) -> ApiError:
    details: dict[str, Any] = {"causes": [cause.tree() for cause in causes]} if causes else {}
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    return ApiError(429, "TooManyRequests", message, details)


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    return ApiError(415, "UnsupportedMediaType", message + ", ".join(accepted))


def not_acceptable(accepted: Sequence[str]) -> ApiError:
    message = "only the following media types are accepted: "
    return ApiError(406, "NotAcceptable", message + ", ".join(accepted))


def shown(value: object) -> str:
    """A rejected value as messages show it: strings quoted, structures as JSON."""
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"))
    return json.dumps(value)


def invalid_value(field: str, value: object, why: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {shown(value)}: {why}", field)


def required(field: str, why: str = "") -> Cause:
    return Cause("FieldValueRequired", "Required value" + (f": {why}" if why else ""), field)


def field_forbidden(field: str, why: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def not_supported(field: str, value: object, allowed: Sequence[object]) -> Cause:
    known = ", ".join(shown(one) for one in allowed)
    return Cause("FieldValueNotSupported", f"Unsupported value: {shown(value)}: supported values: {known}", field)


def type_invalid(field: str, value: object, why: str) -> Cause:
    return Cause("FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {why}", field)
