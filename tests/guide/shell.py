"""Runs the shell blocks of the guide against a simulated cluster, in virtual time.

A small shell (assignments, quotes, pipes, `$(…)`) in which `kubectl` works on the simulated API in process and waits by
letting virtual time pass; `python3` is a real process. Whatever it does not know it refuses: a page with a typing
error fails here, and `tests/e2e/test_upgrade_page.py` shows that bash and the real kubectl agree.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from noderemedy.model.ids import FENCE_REMEDIATION, HOST, MACHINE, NODE, NODE_FENCE, REMEDIATION, Kind
from noderemedy.sim.cluster import Cluster

KINDS: dict[str, Kind] = {
    "machines.cluster.x-k8s.io": MACHINE,
    "baremetalhosts.metal3.io": HOST,
    "nodes": NODE,
    "metal3remediations.remediation.metal3.io": REMEDIATION,
    "nodefences.ha.k8s.io": NODE_FENCE,
    "fenceremediations.node-remedy.dev": FENCE_REMEDIATION,
}
SECOND_MS = 1_000
TIMES = {"s": SECOND_MS, "m": 60 * SECOND_MS}

WORD = re.compile(
    r"""(?P<space>[ \t]+|\\\n|\#[^\n]*)|(?P<end>\n)|(?P<pipe>\|)|(?P<single>'[^']*')|(?P<double>"[^"]*")"""
    r"""|(?P<call>\$\([^()]*\))|(?P<variable>\$\w+)|(?P<plain>[^\s|'"$]+)"""
)
ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
VARIABLE = re.compile(r"\$(\w+)")
RANGE = re.compile(r"\{range (\.[\w.]+)\[\*\]\}(.*)\{end\}")
PART = re.compile(r"\{(\.\w+)\}|\{\"(.*?)\"\}")
JSONPATH = re.compile(r"\{((?:\.(?:[^.{}\\]|\\.)+)+)\}")


class Failed(Exception):
    """A command that a person would see fail."""


class Shell:
    """One terminal at one simulated cluster."""

    def __init__(self, cluster: Cluster, **variables: str) -> None:
        self.cluster = cluster
        self.variables = variables

    def run(self, program: str) -> str:
        """Run a block; returns what it printed. Raises Failed at the first command that fails."""
        return "".join(self._line(line) for line in self._lines(program))

    def _lines(self, program: str) -> Iterator[list[list[str]]]:
        """Each line as a pipeline of words. A line is expanded only when the one before it was run."""
        line: list[list[str]] = [[]]
        word: str | None = None
        for match in WORD.finditer(program + "\n"):
            kind, text = str(match.lastgroup), match.group()
            if kind not in ("space", "end", "pipe"):
                word = (word or "") + self._expanded(kind, text)
                continue
            if word is not None:
                line[-1].append(word)
                word = None
            if kind == "pipe":
                line.append([])
            elif kind == "end" and line != [[]]:
                yield line
                line = [[]]

    def _expanded(self, kind: str, text: str) -> str:
        if kind == "single":
            return text[1:-1]
        if kind == "call":
            return self.run(text[2:-1]).rstrip("\n")
        if kind in ("double", "variable"):
            inner = text[1:-1] if kind == "double" else text
            return VARIABLE.sub(lambda found: self.variables[found[1]], inner)
        return text

    def _line(self, line: list[list[str]]) -> str:
        assignment = ASSIGNMENT.fullmatch(line[0][0]) if len(line) == 1 and len(line[0]) == 1 else None
        if assignment is None:
            return self._pipeline(line)
        self.variables[assignment[1]] = assignment[2]
        return ""

    def _pipeline(self, line: list[list[str]]) -> str:
        flowing = ""
        for words in line:
            flowing = self._command(words, flowing)
        return flowing

    def _command(self, words: list[str], stdin: str) -> str:
        if words[0] == "kubectl":
            return Kubectl(self.cluster).run(words[1:], stdin)
        if words[0] == "python3":
            done = subprocess.run(
                [sys.executable, *words[1:]], input=stdin, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise Failed(done.stderr)
            return done.stdout
        raise Failed(f"{words[0]}: command not found")


class Kubectl:
    """The verbs that the guide uses."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.api = cluster.api
        self.namespace = ""
        self.options: dict[str, str] = {}
        self.words: list[str] = []

    def run(self, words: list[str], stdin: str) -> str:
        verb, *rest = words
        verbs: dict[str, Callable[[str], str]] = {
            "annotate": self.annotate,
            "delete": self.delete,
            "get": self.get,
            "patch": self.patch,
            "taint": self.taint,
            "replace": self.replace,
            "wait": self.wait,
        }
        if verb not in verbs:
            raise Failed(f"kubectl {verb}: not a command of the guide")
        self._read(rest)
        return verbs[verb](stdin)

    def _read(self, words: list[str]) -> None:
        """Options in the forms that the guide uses; every other word is an argument."""
        it = iter(words)
        for word in it:
            if word == "-n":
                self.namespace = next(it)
            elif word in ("-o", "-f", "-p"):
                self.options[word] = next(it)
            elif word.startswith("--"):
                name, _, value = word.partition("=")
                self.options[name] = value
            else:
                self.words.append(word)

    def _expect(self, *options: str) -> None:
        if unknown := sorted(set(self.options) - set(options)):
            raise Failed(f"unknown option {', '.join(unknown)}")

    def _target(self) -> tuple[Kind, str, str]:
        resource, _, name = self.words[0].partition("/")
        if resource not in KINDS or not name:
            raise Failed(f"{self.words[0]} names no object")
        return KINDS[resource], name, self.namespace

    def _found(self) -> dict[str, Any]:
        found = self.api.find(*self._target())
        if found is None:
            raise Failed(f"{self.words[0]} not found")
        return found

    def annotate(self, stdin: str) -> str:
        self._expect()
        self._found()
        notes: dict[str, str | None] = {}
        for word in self.words[1:]:
            if not word.endswith("-"):
                raise Failed(f"{word}: the guide only removes annotations here")
            notes[word[:-1]] = None
        if not notes:
            raise Failed("no annotations were named")
        self.api.patch(*self._target(), {"metadata": {"annotations": notes}}, "merge")
        return ""

    def delete(self, stdin: str) -> str:
        self._expect("--ignore-not-found")
        if "--ignore-not-found" in self.options and self.api.find(*self._target()) is None:
            return ""
        self._found()
        self.api.delete(*self._target())
        return ""

    def get(self, stdin: str) -> str:
        self._expect("-o")
        form = self.options.get("-o", "")
        if form == "json":
            return msgspec.json.encode(self._found()).decode()
        if form.startswith("jsonpath="):
            return printed(self._found(), form.removeprefix("jsonpath="))
        raise Failed(f"-o {form}: not a form of the guide")

    def patch(self, stdin: str) -> str:
        self._expect("--type", "-p")
        if self.options.get("--type") != "merge":
            raise Failed("the guide only makes merge patches")
        self._found()
        self.api.patch(*self._target(), msgspec.json.decode(self.options["-p"]), "merge")
        return ""

    def taint(self, stdin: str) -> str:
        """The one verb that does not take nodes/NAME."""
        self._expect()
        kind, name, *rest = self.words
        if kind not in ("node", "nodes"):
            raise Failed(f"the server doesn't have a resource type {kind}")
        self.words = [f"nodes/{name}", *rest]
        key = self.words[1].removesuffix("-")
        taints = self._found()["spec"].get("taints", [])
        kept = [taint for taint in taints if taint["key"] != key]
        if not self.words[1].endswith("-") or kept == taints:
            raise Failed(f"taint {key} not found")
        self.api.patch(*self._target(), {"spec": {"taints": kept}}, "merge")
        return ""

    def replace(self, stdin: str) -> str:
        self._expect("-f")
        self.api.update(msgspec.json.decode(stdin))
        return ""

    def wait(self, stdin: str) -> str:
        """Let virtual time pass until it is so, or the time-out is over."""
        self._expect("--for", "--timeout")
        if set(self.options) != {"--for", "--timeout"}:
            raise Failed("the guide never waits without a limit")
        limit = self.options["--timeout"]
        end_ms = self.cluster.agenda.now_ms + int(limit[:-1]) * TIMES[limit[-1]]
        while not self._is_so(self.options["--for"]):
            if self.cluster.agenda.now_ms >= end_ms:
                raise Failed(f"timed out waiting for {self.options['--for']} of {self.words[0]}")
            self.cluster.agenda.run_until(self.cluster.agenda.now_ms + SECOND_MS)
        return ""

    def _is_so(self, wanted: str) -> bool:
        found = self.api.find(*self._target())
        if wanted == "create":
            return found is not None
        if found is None:
            raise Failed(f"{self.words[0]} not found")
        if wanted.startswith("condition="):
            conditions = found.get("status", {}).get("conditions", ())
            name = wanted.removeprefix("condition=")
            return any(item["type"] == name and item["status"] == "True" for item in conditions)
        path, _, value = wanted.removeprefix("jsonpath=").rpartition("=")
        return msgspec.json.encode(at(found, path)).decode() == value


def at(tree: dict[str, Any], path: str) -> Any:
    """The value at `{.a.b\\.c}`, "" if there is none."""
    match = JSONPATH.fullmatch(path)
    if match is None:
        raise Failed(f"{path}: not a path of the guide")
    value: Any = tree
    for part in re.findall(r"\.((?:[^.\\]|\\.)+)", match[1]):
        value = value.get(part.replace("\\", ""), "") if isinstance(value, dict) else ""
    return value


def printed(tree: dict[str, Any], form: str) -> str:
    """What kubectl prints by a path, or by one range over a list."""
    over = RANGE.fullmatch(form)
    if over is None:
        return str(at(tree, form))
    items = at(tree, f"{{{over[1]}}}") or []
    return "".join(PART.sub(partial(cell, item), over[2]) for item in items)


def cell(item: dict[str, Any], part: re.Match[str]) -> str:
    return str(at(item, f"{{{part[1]}}}")) if part[1] else part[2].replace("\\n", "\n")
