"""An object that cannot be read: which one it is, as far as its metadata can be read at all, and what to mend in it."""

from __future__ import annotations

import re
from typing import Any

from noderemedy.model.errors import Permanent
from noderemedy.model.ids import Kind, Ref

NAME_MAX = 253  # of the Kubernetes API
# How msgspec says it.
PLACE = re.compile(r"(?P<said>.*?) - at `\$\.?(?P<path>[^`]*)`", re.DOTALL)
EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`")
MISSING = re.compile(r"Object missing required field `(?P<field>[^`]+)`")
STEP = re.compile(r"\[\.\.\.\]|\[\d+\]|[^.\[\]]+")
SORTS: dict[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "bool": (bool, "true or false"),
    "int": (int, "a number"),
    "float": (float, "a number"),
    "object": (dict, "an object"),
    "array": (list, "a list"),
    "null": (type(None), "nothing"),
}
UNQUOTED = ("bool", "int", "float")


class Undecodable(Permanent):
    """An object that cannot be read: quarantined, counted, reported on itself."""

    def __init__(self, ref: Ref, uid: str, resource_version: str, problem: str) -> None:
        super().__init__(f"{ref}: {problem}")
        self.ref = ref
        self.uid = uid
        self.resource_version = resource_version
        self.problem = problem


def undecodable(kind: Kind, cluster: str, tree: Any, error: Exception) -> Undecodable:
    """Say which object it is, as far as its metadata can be read at all."""
    found = tree.get("metadata") if isinstance(tree, dict) else None
    meta: dict[str, Any] = found if isinstance(found, dict) else {}
    words = {key: word(meta.get(key)) for key in ("namespace", "name", "uid", "resourceVersion")}
    ref = Ref(cluster, kind, words["namespace"], words["name"])
    return Undecodable(ref, words["uid"], words["resourceVersion"], told(str(error), tree))


def word(value: Any) -> str:
    """A name out of an object that cannot be trusted."""
    return value[:NAME_MAX] if isinstance(value, str) else ""


# --- what to mend ------------------------------------------------------------------------------------------------


def told(error: str, tree: Any) -> str:
    """The field, what is there, and what to write; what we cannot put better is left as it is."""
    place = PLACE.fullmatch(error)
    said, path = (place["said"], place["path"]) if place else (error, "")
    if missing := MISSING.fullmatch(said):
        return f"{'.'.join(part for part in (path, missing['field']) if part)}: it is missing; write it"
    expected = EXPECTED.fullmatch(said)
    if expected is None:
        return f"{path}: {said}; correct it" if place else error
    got, wanted = expected["got"], [one for one in expected["wanted"].split(" | ") if one != "null"]
    field = resolved(path, tree, SORTS[got][0] if got in SORTS else object)
    found, wish = called(got), " or ".join(dict.fromkeys(called(one) for one in wanted))
    remedy = "write it in quotes" if "str" in wanted and got in UNQUOTED else f"write {wish}"
    return f"{field}{': ' if field else ''}{found} where {wish} is expected; {remedy}"


def called(sort: str) -> str:
    return SORTS[sort][1] if sort in SORTS else sort


def resolved(path: str, tree: Any, sort: type) -> str:
    """The path with the key itself, where the message only says that it is one of several."""
    here, steps = tree, []
    for step in STEP.findall(path):
        if step == "[...]":
            key = (
                next((key for key, value in here.items() if type(value) is sort), "") if isinstance(here, dict) else ""
            )
            steps.append(f".{key}")
        else:
            key = int(step[1:-1]) if step.startswith("[") else step
            steps.append(step if step.startswith("[") else f".{step}")
        here = inside(here, key)
    return "".join(steps).removeprefix(".").removesuffix(".")


def inside(tree: Any, key: Any) -> Any:
    if isinstance(tree, list) and isinstance(key, int):
        return tree[key] if key < len(tree) else None
    return tree.get(key) if isinstance(tree, dict) else None
