"""A process whose cost is measured from outside: CPU time in nanoseconds, memory, and the lines that it prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from tests.e2e.processes import die_with_parent

POLL_S = 0.005
PATIENCE_S = 120.0
HERE = Path(__file__).resolve().parent


class Measured:
    """One running program. `words` is where it prints."""

    def __init__(self, name: str, command: list[str], words: Path) -> None:
        self.name = name
        self.words = words
        self.begun = time.monotonic()
        with words.open("wb") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=die_with_parent
            )

    def wait_for(self, text: str) -> float:
        """Seconds from its start until it printed this."""
        while text not in self.words.read_text(encoding="utf-8", errors="replace"):
            if self.process.poll() is not None or time.monotonic() - self.begun > PATIENCE_S:
                raise SystemExit(f"{self.name} did not say {text!r}:\n{self.words.read_text()[-2000:]}")
            time.sleep(POLL_S)
        return time.monotonic() - self.begun

    def cpu_s(self) -> float:
        """CPU time of all its threads. A program that died would look cheap."""
        if self.process.poll() is not None:
            raise SystemExit(f"{self.name} died:\n{self.words.read_text()[-2000:]}")
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def memory_mb(self, which: str = "VmRSS") -> float:
        """Resident memory now (VmRSS) or at its highest (VmHWM)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{which}:\s+(\d+) kB$", status, re.MULTILINE)
        assert found is not None
        return int(found[1]) / 1024

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def a_yardstick(kubeconfig: Path, folder: Path) -> Measured:
    return Measured("the bare watch", [sys.executable, str(HERE / "follower.py"), str(kubeconfig)], folder / "bare.log")


class Manager(Measured):
    """The manager as it is shipped, and its own figures."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        program = "from noderemedy.cli.main import main; main()"
        options = ["manager", "--kubeconfig", str(kubeconfig), "--metrics-port", "0", "--log-level", "info"]
        super().__init__("the manager", [sys.executable, "-c", program, *options], folder / "manager.log")

    def port(self) -> int:
        lines = [json.loads(line) for line in self.words.read_text().splitlines() if line.startswith("{")]
        return int(next(line["port"] for line in lines if "port" in line))

    def last_words(self) -> str:
        """Of all that did not simply go well."""
        lines = [line for line in self.words.read_text().splitlines() if '"outcome":"Done"' not in line]
        return "\n".join(line[:500] for line in lines[-30:])

    def effects(self) -> float:
        """How many requests its decisions caused so far, reads and writes; leases and events are not among them."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port()}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return sum(float(value) for value in re.findall(r"^node_remedy_effects_total\{.*\} (\S+)$", text, re.MULTILINE))
