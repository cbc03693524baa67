"""Commands of ours as a person types them: a process of its own, with the kubeconfig of one identity and no other."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from tests.e2e.controlplane import ControlPlane
from tests.e2e.managers import COMMAND


@dataclass(frozen=True)
class Answer:
    """What the person reads, and what a script would go by."""

    code: int
    text: str


def typed(plane: ControlPlane, identity: str, *words: str, then: str = "") -> Answer:
    """`node-remedy` with these words, and then this at its prompt; without it the input is at its end."""
    command = [str(COMMAND), *words, "--kubeconfig", str(plane.kubeconfig(identity))]
    done = subprocess.run(command, input=then, capture_output=True, text=True, timeout=60, check=False)
    return Answer(done.returncode, done.stdout + done.stderr)
