"""JSON patch (RFC 6902) that copies only the path it changes.

A patch that is not one is a bad request; one that cannot be applied (a failed `test`, a missing path) is
unprocessable, and changes nothing.
"""

from __future__ import annotations

from typing import Any

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.errors import ApiError

OPERATIONS_MAX = 10_000
NEEDS_VALUE = frozenset({"add", "replace", "test"})
NEEDS_FROM = frozenset({"move", "copy"})
MISSING = object()


class _Unapplicable(Exception):
    """A step that does not fit the document."""


def apply_json_patch(document: Any, operations: Any) -> Any:
    """The document after all operations, or a refusal."""
    _check(operations)
    try:
        for operation in operations:
            document = _apply(document, operation)
    except _Unapplicable as error:
        message = "the server rejected our request due to an error in our request"
        raise ApiError(422, "Invalid", message) from error
    return document


def _check(operations: Any) -> None:
    if not isinstance(operations, list):
        raise errors.bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        )
    if len(operations) > OPERATIONS_MAX:
        what = f"The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {what}")
    if not all(isinstance(operation, dict) for operation in operations):
        raise errors.bad_request("error decoding patch: an operation is not an object")


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    name, path = operation.get("op"), _steps(operation.get("path"))
    if name in NEEDS_VALUE and "value" not in operation and name != "test":
        raise _Unapplicable(f"{name} without a value")
    source = _steps(operation.get("from")) if name in NEEDS_FROM else []
    match name:
        case "add":
            return _add(document, path, operation["value"])
        case "remove":
            return _remove(document, path)
        case "replace":
            return _replace(document, path, operation["value"])
        case "move":
            return _add(_remove(document, source), path, _find(document, source))
        case "copy":
            return _add(document, path, _find(document, source))
        case "test":
            if _find_or_none(document, path) != operation.get("value"):
                raise _Unapplicable("test failed")
            return document
    raise _Unapplicable(f"unknown operation {name}")


def _steps(pointer: Any) -> list[str]:
    if not isinstance(pointer, str):
        raise _Unapplicable("no pointer")
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise _Unapplicable(f"not a pointer: {pointer}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def _index(step: str, length: int) -> int:
    try:
        index = int(step)
    except ValueError:
        raise _Unapplicable(f"not an index: {step}") from None
    if index < 0:
        index += length
    if not 0 <= index < length:
        raise _Unapplicable(f"out of range: {step}")
    return index


def _child(node: Any, step: str) -> Any:
    if isinstance(node, dict) and step in node:
        return node[step]
    if isinstance(node, list):
        return node[_index(step, len(node))]
    raise _Unapplicable(f"missing: {step}")


def _find(document: Any, steps: list[str]) -> Any:
    for step in steps:
        document = _child(document, step)
    return document


def _find_or_none(document: Any, steps: list[str]) -> Any:
    """A test for null also passes where nothing is."""
    if not steps:
        return document
    parent = _find(document, steps[:-1])
    if isinstance(parent, dict):
        return parent.get(steps[-1])
    return _child(parent, steps[-1])


def _with(node: Any, step: str, value: Any) -> Any:
    """A shallow copy of an object or list with one child replaced."""
    if isinstance(node, dict):
        return {**node, step: value}
    index = _index(step, len(node))
    return [*node[:index], value, *node[index + 1 :]]


def _replace(document: Any, steps: list[str], value: Any) -> Any:
    """A member of an object that is not there is added: no standard, but what API servers do."""
    if not steps:
        return value
    if len(steps) == 1 and isinstance(document, dict):
        return {**document, steps[0]: value}
    return _with(document, steps[0], _replace(_child(document, steps[0]), steps[1:], value))


def _add(document: Any, steps: list[str], value: Any) -> Any:
    if not steps:
        return value
    head, rest = steps[0], steps[1:]
    if rest:
        return _with(document, head, _add(_child(document, head), rest, value))
    if isinstance(document, dict):
        return {**document, head: value}
    if isinstance(document, list):
        index = len(document) if head == "-" else _index(head, len(document) + 1)
        return [*document[:index], value, *document[index:]]
    raise _Unapplicable(f"cannot add to a plain value: {head}")


def _remove(document: Any, steps: list[str]) -> Any:
    if not steps:
        raise _Unapplicable("cannot remove the whole document")
    head, rest = steps[0], steps[1:]
    child = _child(document, head)
    if rest:
        return _with(document, head, _remove(child, rest))
    if isinstance(document, dict):
        return {key: value for key, value in document.items() if key != head}
    index = _index(head, len(document))
    return [*document[:index], *document[index + 1 :]]
