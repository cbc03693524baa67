"""The metadata that a fence agent prints (XML) to an `AgentDescription`.

Called by whoever asked the agent (`drivers/fence/`). An agent is a program of somebody else: what it prints may be
huge, cut off or garbage, and may come after warnings. There is a description of it in any case; what cannot be
understood is its `problem`. Rule: a document type is refused, so that no entity is ever expanded or fetched.
"""

from __future__ import annotations

from xml.parsers import expat

from msgspec.structs import replace

from noderemedy.model.agent import AgentAction, AgentDescription, Parameter, Sort

LETTERS_MAX = 1_000_000
DEPTH_MAX = 20
PARTS_MAX = 2_000  # parameters, options and actions in all; the largest agent known has about a hundred
ABOUT_MAX = 300
BEGINNINGS = ("<?xml", "<resource-agent")
TRUE = ("1", "true", "yes")
SORTS = {sort.value: sort for sort in Sort}
# What an agent does not require and must be told: of several systems behind one BMC it takes the last, whosever it is;
# keys and disks it takes from a cluster that is not there (`core/fencing/disks.py`).
NEEDED = {
    "fence_redfish": ("systems_uri", "systems-uri"),
    "fence_scsi": ("key", "devices"),
    "fence_mpath": ("plug", "devices"),
}


class Refused(Exception):
    """The text is no metadata; why is the message."""


def read_metadata(name: str, text: str) -> AgentDescription:
    """What the agent of this name told. Never raises."""
    try:
        begin = min((at for at in map(text.find, BEGINNINGS) if at >= 0), default=-1)
        if begin < 0:
            raise Refused("it prints no metadata")
        if len(text) - begin > LETTERS_MAX:
            raise Refused(f"its metadata is longer than {LETTERS_MAX} letters")
        reading = Reading(NEEDED.get(name, ()))
        reading.feed(text[begin:])
        return AgentDescription(name, *reading.found())
    except Refused as problem:
        return AgentDescription(name, problem=str(problem))
    except expat.ExpatError as error:
        return AgentDescription(name, problem=f"its metadata is not XML (line {error.lineno})")
    except (UnicodeEncodeError, ValueError):
        return AgentDescription(name, problem="its metadata holds characters that cannot be read")


class Reading:
    """One pass over the elements. Texts of the parameter that is open go to `shortdesc`."""

    def __init__(self, needed: tuple[str, ...]) -> None:
        self._needed = needed
        self._path: list[str] = []
        self._parts = 0
        self._about = ""
        self._texts: dict[str, list[str]] = {}
        self._parameters: list[Parameter] = []
        self._actions: list[AgentAction] = []
        self._other_names: list[str] = []
        self._open: dict[str, str] | None = None  # attributes of the parameter that is being read
        self._options: list[str] = []

    def feed(self, text: str) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.StartDoctypeDeclHandler = refuse_doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._letters
        parser.Parse(text.encode(), True)

    def found(self) -> tuple[str, tuple[Parameter, ...], tuple[AgentAction, ...], tuple[str, ...]]:
        if not self._parameters and not self._actions:
            raise Refused("its metadata names no parameter and no action")
        return self._about, tuple(self._parameters), tuple(self._actions), tuple(self._other_names)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._path.append(tag)
        self._parts += tag in ("parameter", "option", "action", "symlink")
        if len(self._path) > DEPTH_MAX or self._parts > PARTS_MAX:
            raise Refused("its metadata is nested too deeply, or has too many parts")
        if self._path[0] != "resource-agent":
            raise Refused(f"its metadata begins with {tag[:40]!r} instead of resource-agent")
        if len(self._path) == 1:
            self._about = shortened(attributes.get("shortdesc", ""))
        elif tag == "parameter" and attributes.get("name"):
            self._open, self._options, self._texts = dict(attributes), [], {}
        elif tag == "content" and self._open is not None:
            self._open |= {f"content {key}": value for key, value in attributes.items()}
        elif tag == "option" and self._open is not None:
            self._options.append(attributes.get("value", ""))
        elif tag == "action" and attributes.get("name"):
            self._actions.append(action(attributes))
        elif tag == "symlink" and attributes.get("name"):
            self._other_names.append(attributes["name"])

    def _end(self, tag: str) -> None:
        self._path.pop()
        if tag == "parameter" and self._open is not None:
            found = parameter(self._open, self._options, "".join(self._texts.get("shortdesc", ())))
            self._parameters.append(replace(found, is_required=True) if found.name in self._needed else found)
            self._open = None

    def _letters(self, letters: str) -> None:
        if self._open is not None and self._path[-1] == "shortdesc":
            self._texts.setdefault("shortdesc", []).append(letters)


def refuse_doctype(*_: object) -> None:
    raise Refused("its metadata has a document type, which is not read")


def parameter(attributes: dict[str, str], options: list[str], about: str) -> Parameter:
    """Unknown types count as texts: nothing is refused because an agent is newer than we are."""
    sort = SORTS.get(attributes.get("content type", ""), Sort.STRING)
    return Parameter(
        name=attributes["name"],
        sort=Sort.STRING if sort is Sort.SELECT and not options else sort,
        is_required=is_true(attributes.get("required")),
        default=attributes.get("content default"),
        options=tuple(options),
        is_deprecated=is_true(attributes.get("deprecated")),
        obsoletes=attributes.get("obsoletes", ""),
        about=shortened(about),
    )


def action(attributes: dict[str, str]) -> AgentAction:
    on_target, automatic = is_true(attributes.get("on_target")), is_true(attributes.get("automatic"))
    return AgentAction(attributes["name"], on_target, automatic)


def is_true(word: str | None) -> bool:
    return (word or "").strip().lower() in TRUE


def shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= ABOUT_MAX else f"{words[:ABOUT_MAX]}…"
