"""`node-remedy check`: every sort of bad input is found, with file, line, field and remedy, and good input is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.test_plan_fencing import installed
from tests.core.fencing.test_elsewhere import CLOUDS
from tests.wire.agents import AGENTS

from noderemedy.cli import check as command
from noderemedy.cli.main import cli
from noderemedy.model.errors import Permanent

EXAMPLES = Path(__file__).parents[2] / "examples"
GOOD = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: fence-method-template-pdu
  namespace: node-remedy-system
data:
  template.properties: |
    agent=fence_pdu
    ip=pdu.example.com
    username=secret:pdu/username
    password=secret:pdu/password
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: fence-config-worker-1, namespace: node-remedy-system}
  data:
    config.properties: |
      node_name=worker-1
      power_management=outlet
    fence-method-outlet: |
      template=fence-method-template-pdu
      plug=1
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: fence-config-racks, namespace: node-remedy-system}
  data:
    config.properties: |
      node_selector=rack in (r1, r2)
      power_management=rack-outlet
    fence-method-rack-outlet: |
      template=fence-method-template-pdu
      plug={label:node-restriction.kubernetes.io/outlet}
- apiVersion: v1
  kind: Secret
  metadata: {name: pdu, namespace: node-remedy-system}
  stringData: {username: admin, password: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: workers, namespace: node-remedy-system, labels: {node-remedy.dev/configuration: remedy}}
data:
  config.yaml: |
    apiVersion: node-remedy/v1alpha
    kind: Configuration
    nodeSelector: type=compute
    thresholdConfigs:
    - nodeConditionType: Ready
      nodeConditionStatus: [false, Unknown]
      nodeConditionPeriod: 5m
      remedy1: {name: fence, period: 10m}
    remedyConfigs:
    - name: fence
      nodeFence: {}
---
apiVersion: node-remedy.dev/v1alpha1
kind: RemediationBudget
metadata: {name: cluster}
spec:
  maxUnhealthy: 30%
---
apiVersion: node-remedy.dev/v1alpha1
kind: FenceRemediationTemplate
metadata: {name: fence, namespace: default}
spec: {template: {spec: {}}}
---
apiVersion: cluster.x-k8s.io/v1alpha3
kind: MachineHealthCheck
metadata: {name: check, namespace: default}
spec:
  selector: {matchLabels: {a: b}}
  unhealthyConditions:
  - {type: Ready, status: Unknown, timeout: 5m}
  maxUnhealthy: 40%
  externalRemediationTemplate: {apiVersion: node-remedy.dev/v1alpha1, kind: FenceRemediationTemplate, name: fence}
"""


class Bad(NamedTuple):
    """A text of the good file, what stands there instead, and what is said about it, at which text of the bad file."""

    old: str
    new: str
    at: str
    field: str
    words: str


CASES = {
    "unknown agent": Bad(
        "agent=fence_pdu", "agent=fence_pdo", "fence-method-outlet: |", "outlet",
        "agent fence_pdo is not installed where node-remedy runs; install the package that brings it",
    ),
    "missing required parameter": Bad(
        "    username=secret:pdu/username\n", "", "fence-method-outlet: |", "outlet, username",
        "parameter username: fence_pdu requires it; write username=…",
    ),
    "wrong type": Bad(
        "      plug=1", "      plug=1\n      lanplus=maybe", "lanplus=maybe", "outlet, lanplus",
        "parameter lanplus: 'maybe' is neither true nor false; write 1 or 0",
    ),
    "unknown parameter": Bad(
        "      plug=1", "      plug=1\n      colour=red", "colour=red", "outlet, colour",
        "parameter colour: fence_pdu does not know it",
    ),
    "key missing in a secret": Bad(
        ", password: hunter2}", "}", "fence-method-outlet: |", "outlet, password",
        "parameter password: Secret node-remedy-system/pdu, key password: it is not there, or no text; add it",
    ),
    "form that was not filled": Bad(
        "hunter2", "<password>", "fence-method-outlet: |", "outlet, password", "it is still to be filled in",
    ),
    "template missing": Bad(
        "template=fence-method-template-pdu\n      plug=1", "template=fence-method-template-pdx\n      plug=1",
        "fence-method-outlet: |", "outlet",
        "template fence-method-template-pdx does not exist; create that ConfigMap, or correct template=",
    ),
    "node without mapping": Bad(
        "\n      plug=1", "", "fence-method-outlet: |", "outlet",
        "nothing says which plug is this node's; write plug=…",
    ),
    "set without mapping": Bad(
        "plug={label:node-restriction.kubernetes.io/outlet}", "plug=1", "fence-method-rack-outlet: |", "rack-outlet",
        "all nodes of the set would share one plug",
    ),
    "empty method list": Bad(
        "power_management=outlet", "power_management=", "power_management=", "config.properties, power_management",
        "power_management names no method, and nothing done is no success",
    ),
    "method that is not there": Bad(
        "power_management=outlet", "power_management=outlets", "power_management=outlets",
        "config.properties, power_management",
        "there is no fence-method-outlets; did you mean outlet?",
    ),
    "password in a ConfigMap": Bad(
        "password=secret:pdu/password", "password=hunter3", "password=hunter3", "template.properties, password",
        "a secret is never written into a ConfigMap",
    ),
    "misspelt word": Bad(
        "node_name=worker-1", "node_nme=worker-1", "node_nme=", "config.properties, node_nme",
        "node_nme is not known; did you mean node_name?",
    ),
    "document with a wrong field": Bad(
        "nodeConditionPeriod: 5m", "nodeConditionPeriod: ten", "nodeConditionPeriod: ten",
        "config.yaml, thresholdConfigs[0].nodeConditionPeriod", "is not a duration like 5m or 1h30m; correct it",
    ),
    "document that is no YAML": Bad(
        "kind: Configuration", "kind: [Configuration", "nodeSelector: type=compute", "config.yaml", "not YAML",
    ),
    "check with a wrong number": Bad(
        "maxUnhealthy: 40%", "maxUnhealthy: many", "maxUnhealthy: many", "spec.maxUnhealthy", "'many'",
    ),
    "check whose template is not there": Bad(
        "metadata: {name: fence, namespace: default}", "metadata: {name: fenced, namespace: default}",
        "name: check,", "", "FenceRemediationTemplate/default/fence does not exist",
    ),
    "budget with a wrong number": Bad(
        "maxUnhealthy: 30%", "maxUnhealthy: 300%", "maxUnhealthy: 300%", "spec.maxUnhealthy", "",
    ),
    "key that is no text": Bad(
        "  template.properties: |\n    agent", "  other.properties: 17\n  template.properties: |\n    agent",
        "other.properties: 17", "data.other.properties", "a number where a text is expected; write it in quotes",
    ),
    "object that cannot be read": Bad(
        "{name: cluster}", "{name: cluster, generation: many}", "generation: many", "metadata.generation",
        "a text where a number is expected; write a number",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_agents(monkeypatch)


def invent_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """The agents of this machine are invented ones."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: AGENTS.get(name))
    monkeypatch.setattr(command, "installed", lambda where: tuple(AGENTS))


def run(*arguments: object, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["check", *map(str, arguments)], input=given, standalone_mode=False)


def checked(folder: Path, text: str, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    file = folder / "all.yaml"
    file.write_text(text, encoding="utf-8")
    result = run("-f", file, "--json", *arguments)
    assert not result.exception, result.output
    return int(result.return_value), json.loads(result.stdout)


def test_a_good_configuration_has_no_problem(tmp_path: Path) -> None:
    """Also without Nodes: each document is checked for a node that stands in."""
    assert (0, []) == checked(tmp_path, GOOD)


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_found(case: str, tmp_path: Path) -> None:
    """One mistake is one problem, or one per place that it breaks: with its line, its field and its remedy."""
    bad = CASES[case]
    assert bad.old in GOOD
    text = GOOD.replace(bad.old, bad.new, 1)

    code, found = checked(tmp_path, text)

    assert 1 == code
    line = next(number for number, row in enumerate(text.splitlines(), 1) if bad.at in row)
    fitting = [one for one in found if bad.words in one["problem"]]
    assert (str(tmp_path / "all.yaml"), line, bad.field) in [
        (one["file"], one["line"], one["field"]) for one in fitting
    ], found
    assert "hunter" not in str(found)


def test_two_nodes_on_one_plug(tmp_path: Path) -> None:
    """Both documents are told, each with the other's node."""
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fence-config-worker-2\n  namespace: node-remedy-system\n"
    )
    text += "data:\n  config.properties: |\n    power_management=o\n  fence-method-o: |\n"
    text += "    template=fence-method-template-pdu\n    plug=1\n"

    code, found = checked(tmp_path, f"{GOOD}---\n{text}")

    assert 1 == code
    told = {one["name"]: one["problem"] for one in found}
    assert {"outlet, plug", "o, plug"} == {one["field"] for one in found}
    assert {"fence-config-worker-1", "fence-config-worker-2"} == set(told)
    assert "pdu.example.com plug=1 is also the plug of node worker-2" in told["fence-config-worker-1"]


def test_a_secret_that_is_not_among_the_files_is_a_note(tmp_path: Path) -> None:
    """Nobody keeps Secrets beside their configuration; who does can be strict."""
    text = GOOD.replace("kind: Secret", "kind: Sekret")

    code, found = checked(tmp_path, text)

    assert (0, {"note"}) == (code, {one["severity"] for one in found})
    assert "method outlet: Secret node-remedy-system/pdu is not there; make sure" in found[0]["problem"]
    assert 1 == checked(tmp_path, text, "--strict")[0]


NODE = "---\napiVersion: v1\nkind: Node\nmetadata: {name: NAME, labels: {LABELS}}\n"


def a_node(name: str, labels: str) -> str:
    return NODE.replace("NAME", name).replace("LABELS", labels)


def test_nodes_that_are_there_count(tmp_path: Path) -> None:
    """A name or a selector that means nobody, a label that is missing, and a node that nothing could fence."""
    nodes = a_node("worker-9", "type: compute") + a_node("worker-3", "rack: r1") + a_node("worker-4", "rack: r2")

    code, found = checked(tmp_path, GOOD + nodes)

    assert 1 == code
    told = {(one["name"], one["problem"]) for one in found}
    assert ("fence-config-worker-1", "there is no node worker-1; correct node_name, or delete this ConfigMap") in told
    assert any("no fence configuration is there for node worker-9" in what for who, what in told if who == "workers")
    (label,) = [what for who, what in told if who == "fence-config-racks"]
    assert "has no label node-restriction.kubernetes.io/outlet; kubectl label node NODE" in label
    assert label.endswith("(node worker-3, worker-4)")


def test_nodes_whose_check_would_have_them_fenced_need_a_configuration(tmp_path: Path) -> None:
    """Found out before the day on which it is needed."""
    machine = "---\napiVersion: cluster.x-k8s.io/v1alpha3\nkind: Machine\n"
    machine += "metadata: {name: m, namespace: default, labels: {a: b}}\nstatus: {nodeRef: {name: worker-7}}\n"

    _, found = checked(tmp_path, GOOD + machine + a_node("worker-7", ""))

    (told,) = [one for one in found if one["kind"] == "MachineHealthCheck"]
    assert "its template has nodes fenced: no fence configuration is there for node worker-7" in told["problem"]


def test_a_name_that_means_nobody_is_a_problem(tmp_path: Path) -> None:
    """A mistyped name leaves a node without fencing."""
    node = a_node("worker-3", 'rack: r1, node-restriction.kubernetes.io/outlet: "3"')

    code, found = checked(tmp_path, GOOD.replace("node_name=worker-1", "node_name=worker-l") + node)

    told = (
        "fence-config-worker-1",
        "problem",
        "there is no node worker-l; correct node_name, or delete this ConfigMap",
    )
    assert 1 == code
    assert told in [(one["name"], one["severity"], one["problem"]) for one in found]


def test_the_template_of_a_cloud_is_checked_without_any_instance(tmp_path: Path) -> None:
    """It needs no document, so an instance of that cloud stands in."""
    text = GOOD.split("---", maxsplit=1)[0].replace("template-pdu", "template-aws").replace("fence_pdu", "fence_aws")

    code, found = checked(tmp_path, text)

    assert 1 == code
    assert any("parameter ip: fence_aws does not know it" in one["problem"] for one in found)


PLACES = {
    "aws": "agent=fence_aws\n    region=eu-west-1",
    "gce": "agent=fence_gce\n    project=prod\n    zone=europe-west1-c",
    "azure": "agent=fence_azure_arm\n    resourceGroup=g1\n    subscriptionId=s1",
}


@pytest.mark.parametrize("cloud", PLACES)
def test_a_place_that_all_instances_share_is_no_mistake(
    cloud: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Nodes nobody can say that it is another one than theirs: the instance that stands in is there."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: CLOUDS.get(name))
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fence-method-template-{cloud}\n"
    text = f"{head}  namespace: node-remedy-system\ndata:\n  template.properties: |\n    {PLACES[cloud]}\n"
    assert (0, []) == checked(tmp_path, text)

    node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {providerID: 'gce://prod/europe-west1-b/n1'}\n"
    code, found = checked(tmp_path, text + node)
    told = "parameter zone: it says europe-west1-c, and the node's providerID europe-west1-b; leave it out of"
    assert (int(cloud == "gce"), [True] * (cloud == "gce")) == (code, [told in one["problem"] for one in found])


def test_without_agents_the_rest_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no agent is installed at all, an agent that is not installed is no mistake of who wrote its name."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: None)
    monkeypatch.setattr(command, "installed", lambda where: ())

    code, found = checked(tmp_path, GOOD)
    assert (0, {"note"}) == (code, {one["severity"] for one in found})
    assert 1 == checked(tmp_path, GOOD.replace("power_management=outlet", "power_management="))[0]


def test_text_is_for_people_and_editors(tmp_path: Path) -> None:
    """FILE:LINE: first, a summary last, and standard input works as files do."""
    result = run("-f", "-", given=GOOD.replace("maxUnhealthy: 40%", "maxUnhealthy: many"))

    assert result.stdout.startswith("<stdin>:76: MachineHealthCheck/default/check: spec.maxUnhealthy: 'many'")
    assert result.stdout.endswith("1 problem, 0 notes; 7 objects looked at. Nothing was changed.\n")
    assert "There is no Node among the files" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-f", "no-such-file.yaml"], "no-such-file.yaml: No such file or directory"),
        (["-f", "empty.yaml"], "nothing in there"),
        (["-f", "others.yaml"], "no object of a kind that node-remedy looks at"),
        (["-f", "kindless.yaml"], "kindless.yaml: an entry without apiVersion and kind was left out"),
        (
            ["-f", "bare.yaml"],
            "bare.yaml: a Configuration is no object by itself: make it the text of config.yaml in a",
        ),
        (["-f", "others.yaml", "--context", "x"], "leave one of them out"),
    ],
)
def test_what_cannot_be_checked(
    arguments: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong folder must not pass for a good configuration."""
    monkeypatch.chdir(tmp_path)
    Path("empty.yaml").write_text("---\n", encoding="utf-8")
    Path("kindless.yaml").write_text("kind: MachineHealthCheck\nmetadata: {name: x}\n", encoding="utf-8")
    Path("bare.yaml").write_text("apiVersion: node-remedy/v1alpha\nkind: Configuration\n", encoding="utf-8")
    Path("others.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", encoding="utf-8")

    result = run(*arguments)

    told = str(getattr(result.exception, "message", result.exception))
    assert isinstance(result.exception, Permanent | click.UsageError)
    assert problem in told
    assert 2 > told.count(f"{arguments[1]}: "), "a file is named once"


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.iterdir()))
def test_examples_have_no_problem(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What we hand out can be applied; the agents are those of `plan`'s tests."""
    monkeypatch.setattr(command, "describe_here", lambda agent, agents_path: installed(agent))
    monkeypatch.setattr(command, "installed", lambda where: ("fence_aws",))

    result = run("-f", EXAMPLES / example)

    assert 0 == result.return_value, result.output


PIECES = ("", "\n", ": ", "{", "- ", "null", "5", "data: 7\n", "metadata: x\n", "\t", "&a", "*a", "|", "'", "\x00", "é")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(GOOD)), st.integers(0, 60), st.lists(st.sampled_from(PIECES), max_size=3), st.integers(0, 2))
def test_garbage_is_told_or_refused(at: int, length: int, pieces: list[str], again: int) -> None:
    """Whatever is cut out of a file or put into it: there is a list of problems, or one sentence that refuses it."""
    text = GOOD[:at] + "".join(pieces) + GOOD[at + length :] + GOOD[: again * 200]
    result = run("-f", "-", "--json", given=text)

    if result.exception is None:
        assert all(one["problem"] and one["line"] >= 0 for one in json.loads(result.stdout))
    else:
        assert isinstance(result.exception, Permanent), text
