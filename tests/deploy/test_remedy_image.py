"""deploy/remedy-image, which no test builds: what it copies exists, its packages have the names of the tests' own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from noderemedy.core.fencing import clouds
from noderemedy.model.remedy import PodRemedy
from noderemedy.model.time import Span
from noderemedy.wire.placedfields import PlacedFields
from noderemedy.wire.podtemplates import read_pod

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "remedy-image"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
IGNORED = (FOLDER / "Dockerfile.dockerignore").read_text()
OF_AGENTS = ("fence-agents", "ipmitool", "python3-boto3", "python3-novaclient", "sg3-utils", "snmp", "telnet")
# What each agent of a cloud imports; nobody has these clouds here. Some comes with the package of the agents itself.
OF_CLOUDS = {
    "fence_aws": "python3-boto3",
    "fence_azure_arm": "python3-azure",
    "fence_gce": "python3-googleapi",
    "fence_openstack": "python3-novaclient",
    "fence_vmware_soap": "python3-suds",
}
COMES_ALONG = ("python3-boto3", "python3-googleapi", "python3-suds")
WANTED = "still-wanted.yaml"
PLAYBOOKS = ("drain-cordon-reboot.yaml", "storage-detach.yaml")


def lines() -> list[str]:
    without_comments = [line for line in DOCKERFILE.splitlines() if not line.startswith("#")]
    return "\n".join(without_comments).replace("\\\n", " ").splitlines()


def packages() -> list[str]:
    """What the last stage installs."""
    runs = [line for line in lines() if "apt-get install" in line]
    words = runs[-1].split("--no-install-recommends")[1].split("&&")[0]
    return words.split()


def copied() -> list[str]:
    own = [line.split()[1:] for line in lines() if line.startswith("COPY ") and "--from" not in line]
    return [source for parts in own for source in parts[:-1]]


def test_what_is_copied_exists_and_is_let_through() -> None:
    """Everything but kubectl, which the administrator brings."""
    let_through = {line.removeprefix("!") for line in IGNORED.splitlines() if line.startswith("!")}

    assert set(copied()) == let_through
    assert [] == [name for name in copied() if "*" not in name and not (ROOT / name).exists()]


def test_the_agents_have_what_the_tests_install_for_them() -> None:
    """Packages that make agents work on the bench are in the image, too."""
    bench = re.findall(r"^  ([a-z0-9-]+) ", (ROOT / "scripts" / "e2e-packages").read_text(), re.MULTILINE)

    assert [] == [name for name in OF_AGENTS if name not in packages()]
    assert [] == [name for name in OF_AGENTS if name not in bench]


def lacking(installed: list[str]) -> list[str]:
    """Agents of clouds that could not even begin."""
    return [agent for agent, package in OF_CLOUDS.items() if package not in (*installed, *COMES_ALONG)]


def test_the_agents_of_all_clouds_find_what_they_import() -> None:
    """Every cloud whose instances need no document has an agent that can work in the image."""
    agents = set(re.findall(r'"(fence_[a-z_]+)"', Path(clouds.__file__).read_text()))

    assert set(OF_CLOUDS) == agents
    assert [] == lacking(packages())
    assert ["fence_azure_arm"] == lacking([name for name in packages() if name != "python3-azure"])


def test_the_runner_is_found_by_its_jobs() -> None:
    """`python3 -m noderemedy.runner` finds the package: the environment of node-remedy comes first."""
    [path] = re.findall(r"PATH=(\S+)", DOCKERFILE)

    assert "/opt/node-remedy/bin" == path.split(":")[0]
    assert "/usr/sbin" in path.split(":")
    assert re.search(r"pip install --no-cache-dir \. ansible-core ansible-runner$", DOCKERFILE, re.MULTILINE)


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_playbooks_need_no_collection(name: str) -> None:
    """Only what ansible-core brings, run here, and every command says whether it changes anything."""
    [play] = yaml.safe_load((FOLDER / "runner" / "project" / name).read_text())
    modules = [key for task in play["tasks"] for key in task if "." in key]

    assert ("localhost", "local") == (play["hosts"], play["connection"])
    assert {"ansible.builtin"} == {module.rpartition(".")[0] for module in modules}
    acting = [task for task in play["tasks"] if {"ansible.builtin.command", "ansible.builtin.shell"} & task.keys()]
    assert [] == [task["name"] for task in acting if "changed_when" not in task]


def unchecked(tasks: list[dict[str, object]]) -> list[object]:
    """What is changed before anybody has asked whether it is still wanted."""
    asks = [number for number, task in enumerate(tasks) if task.get("ansible.builtin.import_tasks") == WANTED]
    return [task["name"] for task in tasks[: min(asks, default=len(tasks))] if task.get("changed_when")]


@pytest.mark.parametrize("name", PLAYBOOKS)
def test_playbooks_ask_whether_they_come_late(name: str) -> None:
    """Before they change anything; tests/e2e/test_playbooks.py runs them late."""
    [play] = yaml.safe_load((FOLDER / "runner" / "project" / name).read_text())
    hasty = [task for task in play["tasks"] if "ansible.builtin.import_tasks" not in task]

    assert [] == unchecked(play["tasks"])
    assert [] != unchecked(hasty)


def written_in(dockerfile: str) -> dict[str, int]:
    """Folders that the Dockerfile makes for everybody to write in, and their modes."""
    found = re.findall(r"^RUN install --directory --mode=(\d+) (\S+)$", dockerfile, re.MULTILINE)
    return {path: int(mode, 8) for mode, path in found}


def test_what_ansible_writes_has_a_place() -> None:
    """The image is root's and its user is not: artifacts below /runner, made after the copy, and the rest in /tmp;
    tests/e2e/test_playbooks.py runs the playbooks from a folder that was made by the same line, as that user.
    """
    before, _, after = DOCKERFILE.partition("COPY deploy/remedy-image/runner /runner\n")

    assert ({}, {"/runner/artifacts": 0o1777}) == (written_in(before), written_in(after))
    assert re.search(r"^ +HOME=/tmp$", DOCKERFILE, re.MULTILINE)
    assert after.index("install --directory") < after.index("\nUSER ")


def the_reboot() -> PodRemedy:
    """The remedy of the example that runs a playbook."""
    [document] = yaml.safe_load_all((ROOT / "examples" / "remedy-pods" / "workers.yaml").read_text())
    config = yaml.safe_load(document["data"]["config.yaml"])
    [reboot] = [one for one in config["remedyConfigs"] if one["name"] == "reboot"]
    pod = read_pod(PlacedFields({}, "config.yaml", {}), "remedyConfigs[1]", reboot)
    assert pod
    return pod


def rebooting() -> dict[str, Any]:
    [play] = yaml.safe_load((FOLDER / "runner" / "project" / "drain-cordon-reboot.yaml").read_text())
    return dict(play)


def waits() -> dict[str, int]:
    """Seconds that the playbook may wait at each of its tasks, if nobody says otherwise."""
    play = rebooting()
    named = re.compile(r"\b(\w+_seconds)\b")
    usual = {
        key: int(re.findall(r"default\('(\d+)'", value)[0]) for key, value in play["vars"].items() if named.match(key)
    }
    texts = {task["name"]: str(task.get("retries", task.get("ansible.builtin.command"))) for task in play["tasks"]}
    return {task: usual[found[1]] for task, text in texts.items() if (found := named.search(text))}


def assert_time_enough(pod: PodRemedy) -> None:
    """One try, of which every wait may be needed; half as much again, since each look takes a moment, too."""
    assert sum(waits().values()) * 1500 * (pod.retries + 1) <= pod.deadline.ms


def test_the_example_gives_the_playbook_its_time() -> None:
    """A pod that is ended while it waits leaves its node cordoned: a drain, a way down, a boot and a readiness fit."""
    assert [120, 180, 600, 600] == list(waits().values())
    assert_time_enough(the_reboot())


@pytest.mark.parametrize("harm", [{"deadline": Span.seconds(600)}, {"retries": 1}])
def test_sabotage_too_little_time_is_seen(harm: dict[str, Any]) -> None:
    """The usual deadline, and a second try in the same time, are too short."""
    with pytest.raises(AssertionError):
        assert_time_enough(replace(the_reboot(), **harm))


def test_the_account_of_the_example_is_shipped() -> None:
    """Beside deploy/, by a file of its own that the example names; tests/e2e/test_playbooks.py runs with its rights."""
    file = "deploy/rbac/60-repairer.yaml"
    shipped = [(one["kind"], one["metadata"]["name"]) for one in yaml.safe_load_all((ROOT / file).read_text())]
    installed = yaml.safe_load((ROOT / "deploy" / "kustomization.yaml").read_text())["resources"]

    assert ("ServiceAccount", json.loads(the_reboot().template)["spec"]["serviceAccountName"]) == shipped[0]
    assert file in (ROOT / "examples" / "remedy-pods" / "workers.yaml").read_text()
    assert "rbac/60-repairer.yaml" not in installed


def test_the_example_mounts_the_key_where_the_playbook_looks() -> None:
    """In a pod that can read it; and the user of the image is one that ssh accepts."""
    spec = json.loads(the_reboot().template)["spec"]
    [mount], [volume] = spec["containers"][0]["volumeMounts"], spec["volumes"]
    play = rebooting()

    assert f"'{mount['mountPath']}/ssh-privatekey'" in play["vars"]["key"]
    assert (0o440, 65532) == (volume["secret"]["defaultMode"], spec["securityContext"]["fsGroup"])
    assert "useradd --uid 65532 " in DOCKERFILE.partition("\nUSER 65532:65532\n")[0]


@pytest.mark.e2e
def test_what_comes_along_does() -> None:
    """The package of the agents depends on these; what it only suggests has to be named."""
    if not shutil.which("apt-cache"):
        pytest.skip("missing: apt-cache")
    command = ["apt-cache", "depends", "fence-agents"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    needed = set(re.findall(r"^  Depends: <?([a-z0-9.+-]+)", shown.stdout, re.MULTILINE))
    if not needed:
        pytest.skip("missing: package lists with fence-agents")

    assert [] == [name for name in COMES_ALONG if name not in needed]


@pytest.mark.e2e
def test_the_packages_exist() -> None:
    """Debian knows each of them by that name."""
    if not shutil.which("apt-cache"):
        pytest.skip("missing: apt-cache")
    shown = subprocess.run(
        ["apt-cache", "show", "--no-all-versions", *packages()], capture_output=True, text=True, check=False
    )
    known = set(re.findall(r"^Package: (\S+)$", shown.stdout, re.MULTILINE))

    assert [] == [name for name in packages() if name not in known]
