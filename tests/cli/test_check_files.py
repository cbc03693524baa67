"""`node-remedy check -f`: what only the files show, as misspelt fields, templates, twins, and files that are broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from msgspec.structs import replace
from tests.cli.test_check_command import checked, invent_agents, run
from tests.wire.agents import AGENTS

from noderemedy.cli import check as command
from noderemedy.model.errors import Permanent

SYSTEM = "node-remedy-system"
PLUGGED = 'fence-method-p: "agent=fence_pdu\\nip=10.1.1.1\\nplug=1\\nusername=u"'
CHECK = """\
apiVersion: cluster.x-k8s.io/VERSION
kind: MachineHealthCheck
metadata: {name: check, namespace: default}
spec: SPEC
"""
SEED = "selector: {matchLabels: {a: b}}, unhealthyConditions: [{type: Ready, status: Unknown, timeout: 5m}]"
CAPI = "clusterName: c, selector: {matchLabels: {a: b}}"
BUDGET = """\
apiVersion: node-remedy.dev/v1alpha1
kind: RemediationBudget
metadata: {name: cluster}
spec: {maxInFlight: 3}
"""
FENCE = """\
apiVersion: ha.k8s.io/v1
kind: NodeFence
metadata: {name: foo}
spec: {node: worker-1}
"""
CONFIGURATION = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: workers, namespace: node-remedy-system}
data:
  config.yaml: |
    apiVersion: node-remedy/v1alpha
    kind: Configuration
    nodeSelector: type=compute
    thresholdConfigs:
    - nodeConditionType: Ready
      nodeConditionStatus: [false, Unknown]
      nodeConditionPeriod: 5m
      remedy1: {name: fence}
    remedyConfigs:
    - name: fence
      nodeFence: {}
"""


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_agents(monkeypatch)


def told(folder: Path, text: str) -> list[str]:
    return [one["problem"] for one in checked(folder, text)[1]]


def a_check(spec: str, version: str = "v1alpha3") -> str:
    return CHECK.replace("SPEC", f"{{{spec}}}").replace("VERSION", version)


def test_a_document_without_its_config_map_is_told(tmp_path: Path) -> None:
    """Beside other objects, too: the seed prints it bare, and nobody would read it."""
    bare = "apiVersion: node-remedy/v1alpha\nkind: Configuration\nthresholdConfigs: []\n"
    code, found = checked(tmp_path, f"{BUDGET}---\n{bare}")

    assert (1, [6]) == (code, [one["line"] for one in found])
    assert "kubectl -n node-remedy-system create configmap NAME --from-file=config.yaml=FILE" in found[0]["problem"]


def test_half_a_character_is_told(tmp_path: Path) -> None:
    """JSON can write one, and no other program could read it: it is refused with file, line and field."""
    meta = '"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w", "namespace": "node-remedy-system"}'
    half = '"data": {"config.yaml": "x: \\ud800"}'
    file = tmp_path / "w.json"
    file.write_text(f'{{"kind": "List", "items": [\n{{{meta}, {half}}}]}}', encoding="utf-8")
    result = run("-f", file)

    assert isinstance(result.exception, Permanent)
    assert str(result.exception).startswith(f"{file}:2: items[0].data.config.yaml: holds half a character (\\ud800)")


# --- fields ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (a_check(f"{SEED}, maxUnhealty: 3"), "spec.maxUnhealty: no field of a MachineHealthCheck; did you mean max"),
        (a_check(f"{SEED}, nodeStartupTimout: 5m"), "spec.nodeStartupTimout: no field of a MachineHealthCheck; did"),
        (
            a_check(SEED.replace("5m", "5m, timout: 3m")),
            "spec.unhealthyConditions[0].timout: no field of a MachineHealthCheck; did you mean timeout?",
        ),
        (
            a_check(f"{CAPI}, checks: {{unhealthyNodesConditions: []}}", "v1beta2"),
            "spec.checks.unhealthyNodesConditions: no field of a MachineHealthCheck; did you mean unhealthyNode",
        ),
        (BUDGET.replace("maxInFlight", "maxInflight"), "spec.maxInflight: no field of a RemediationBudget; did you m"),
        (
            BUDGET.replace("maxInFlight: 3", "windows: [{from: '10:00', to: '11:00', day: Mon}]"),
            "spec.windows[0].day: no field of a RemediationBudget; did you mean days?",
        ),
        (
            BUDGET.replace("maxInFlight", "xyz"),
            "spec.xyz: no field of a RemediationBudget; write one of cooldown, maxInFlight, ",
        ),
        (BUDGET.replace("spec:", "specs:"), "specs: no field of a RemediationBudget; did you mean spec?"),
        (
            FENCE.replace("foo", "node-fence-worker-1").replace("1}", "1, freeby: taint}"),
            "spec.freeby: no field of a NodeFence; did you mean freeBy?",
        ),
    ],
)
def test_a_field_that_nobody_reads_is_a_problem(text: str, problem: str, tmp_path: Path) -> None:
    """An API server drops it without a word, and a limit that was meant is not there."""
    code, found = checked(tmp_path, text)

    assert 1 == code
    (one,) = found
    assert one["problem"].startswith(problem)
    assert one["line"] > 0
    assert problem.partition(":")[0] == (one["field"] or "specs")


@pytest.mark.parametrize(
    "text",
    [
        a_check(f"{CAPI}, checks: {{nodeStartupTimeoutSeconds: 60}}, remediation: {{triggerIf: {{}}}}", "v1beta2"),
        a_check(f"{CAPI}, unhealthyConditions: [], nodeStartupTimeout: 5m, maxUnhealthy: 40%", "v1beta1"),
        BUDGET + "status: {whatever: 7}\n",
    ],
)
def test_fields_that_are_known_are_no_problem(text: str, tmp_path: Path) -> None:
    """Of all versions of a kind, and a status is nobody's mistake."""
    assert (0, []) == checked(tmp_path, text)


# --- templates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "spec", "problems"),
    [
        (
            "node-remedy.dev/v1alpha1 FenceRemediationTemplate",
            "{strategy: nope, stepRetries: -1, stepretries: 1}",
            [
                "spec.template.spec.stepRetries: -1 cannot be read",
                "spec.template.spec.stepretries: no field of a FenceRemediationTemplate; did you mean stepRetries?",
                "spec.template.spec.strategy: 'nope' cannot be read; write escalate or alert",
            ],
        ),
        (
            "remediation.metal3.io/v1alpha1 Metal3RemediationTemplate",
            "{strategy: nope, freeBy: magic}",
            [
                "spec.template.spec.freeBy: 'magic' cannot be read",
                "spec.template.spec.strategy: 'nope' cannot be read; write reboot or escalate",
            ],
        ),
        ("remediation.metal3.io/v1alpha1 Metal3RemediationTemplate", "7", ["spec.template.spec: 7 cannot be read"]),
    ],
)
def test_a_template_is_judged_before_a_machine_needs_it(
    kind: str, spec: str, problems: list[str], tmp_path: Path
) -> None:
    """Whether a check names it or not, by the rules of the request that it stands for."""
    version, _, name = kind.partition(" ")
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a, namespace: b}}\n"

    code, found = checked(tmp_path, f"{text}spec: {{template: {{spec: {spec}}}}}\n")

    assert 1 == code
    said = sorted(one["problem"] for one in found)
    assert len(problems) == len(said), said
    assert all(one.startswith(problem) for one, problem in zip(said, problems, strict=True)), said
    assert {(name, 4)} == {(one["kind"], one["line"]) for one in found}
    assert (0, []) == checked(tmp_path, f"{text}spec: {{template: {{spec: {{}}}}}}\n")


def test_templates_are_counted_among_what_was_looked_at(tmp_path: Path) -> None:
    """A folder of templates alone is something to check."""
    text = "apiVersion: node-remedy.dev/v1alpha1\nkind: FenceRemediationTemplate\nmetadata: {name: a, namespace: b}\n"
    (tmp_path / "t.yaml").write_text(f"{text}spec: {{template: {{spec: {{}}}}}}\n", encoding="utf-8")

    result = run("-f", tmp_path)

    assert "No problems, 0 notes; 1 object looked at. Nothing was changed.\n" == result.stdout
    assert "" == result.stderr


# --- places that nobody reads ------------------------------------------------------------------------------------


def a_fence(namespace: str) -> str:
    meta = f"{{name: fence-config-worker-3{namespace}}}"
    data = "  config.properties: |\n    node_name=worker-3\n    power_management=p\n  fence-method-p: agent=fence_pdu\n"
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {meta}\ndata:\n{data}"


def test_a_fence_configuration_in_another_namespace_is_a_problem(tmp_path: Path) -> None:
    """Nobody reads it there."""
    problem = f"a configuration in namespace default is not read; put it into {SYSTEM}"

    assert (1, [problem]) == (
        checked(tmp_path, a_fence(", namespace: default"))[0],
        told(tmp_path, a_fence(", namespace: default")),
    )


def test_a_document_without_a_namespace_is_noted(tmp_path: Path) -> None:
    """It goes wherever the context of whoever applies it points to."""
    for text in (a_fence(""), CONFIGURATION.replace(", namespace: node-remedy-system", "")):
        notes = [one for one in checked(tmp_path, text)[1] if one["severity"] == "note"]
        (note,) = [one for one in notes if one["field"] == "metadata.namespace"]
        assert f"only documents in {SYSTEM} are read; write namespace: {SYSTEM}" in note["problem"]


def test_a_labelled_config_map_without_its_key_is_a_problem(tmp_path: Path) -> None:
    """config.yml is not config.yaml, and nothing in it would ever be done."""
    label = "namespace: node-remedy-system, labels: {node-remedy.dev/configuration: remedy}"
    text = CONFIGURATION.replace("namespace: node-remedy-system", label).replace("config.yaml", "config.yml")

    (problem,) = told(tmp_path, text)

    assert "config.yaml: this key is missing, and nothing is read of config.yml; rename it to config.yaml" == problem


def test_a_fence_of_another_name_than_its_node_is_a_problem(tmp_path: Path) -> None:
    """The API server refuses it, as a node has one NodeFence."""
    assert ["metadata.name: a node has one NodeFence; write node-fence-worker-1"] == told(tmp_path, FENCE)
    assert [] == told(tmp_path, FENCE.replace("foo", "node-fence-worker-1"))


@pytest.mark.parametrize("agent", ["fence_dummy", "fence_docker"])
def test_a_try_is_noted(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no mistake, and nobody may take it for fencing."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: replace(AGENTS["fence_pdu"], name=name))
    text = a_fence(", namespace: node-remedy-system").replace("fence-method-p: agent=fence_pdu", PLUGGED)
    code, (found,) = checked(tmp_path, text.replace("fence_pdu", agent))

    assert (0, "note") == (code, found["severity"])
    assert f"method p: agent {agent} switches no machine" in found["problem"]
    assert "nothing is freed on its word" in found["problem"]
    assert (0, []) == checked(tmp_path, text)


DUMPING = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: fence-config-worker-1, namespace: node-remedy-system}
data:
  config.properties: |
    node_name=worker-1
    power_management=host-power
    kdump=true
"""


def test_kernel_dumps_are_noted_to_need_a_manager_that_listens(tmp_path: Path) -> None:
    """No file says how managers run: what it takes is a note, and without `kdump` there is none."""
    code, found = checked(tmp_path, DUMPING)

    (note,) = found
    assert (0, "note", "fence-config-worker-1") == (code, note["severity"], note["name"])
    assert "--kdump-listen" in note["problem"]
    assert (0, []) == checked(tmp_path, DUMPING.replace("kdump=true", "kdump=false"))


MARKING = """\
apiVersion: machine.openshift.io/v1beta1
kind: MachineHealthCheck
metadata:
  name: legacy
  namespace: openshift-machine-api
  annotations:
    machine.openshift.io/remediation-strategy: external-baremetal
spec:
  selector: {matchLabels: {hardware: legacy}}
  unhealthyConditions: [{type: Ready, status: Unknown, timeout: 5m}]
"""
OF_SEED = MARKING.replace("machine.openshift.io/v1beta1", "cluster.x-k8s.io/v1alpha3")


@pytest.mark.parametrize(
    ("text", "field"), [(MARKING, "spec.remediationTemplate"), (OF_SEED, "spec.externalRemediationTemplate")]
)
def test_a_check_that_repairs_by_annotation_is_noted(text: str, field: str, tmp_path: Path) -> None:
    """It works, and is deprecated: the note stands at the annotation, and says what to write instead."""
    code, found = checked(tmp_path, text)

    (note,) = found
    at = "metadata.annotations.machine.openshift.io/remediation-strategy"
    assert (0, "note", 7, at) == (code, note["severity"], note["line"], note["field"])
    assert ("MachineHealthCheck", "openshift-machine-api", "legacy") == (note["kind"], note["namespace"], note["name"])
    assert f"name a Metal3RemediationTemplate in {field} instead" in note["problem"]
    assert "node-remedy import --convert" in note["problem"]
    assert 1 == checked(tmp_path, text, "--strict")[0]


@pytest.mark.parametrize(
    "text",
    [
        MARKING.replace("external-baremetal", "another"),
        MARKING.replace("spec:", "spec:\n  remediationTemplate: {kind: T, apiVersion: example.com/v1, name: t}"),
    ],
)
def test_a_check_that_repairs_in_another_way_is_not_noted(text: str, tmp_path: Path) -> None:
    """A template wins over the annotation, and another strategy is none that we know."""
    assert not any("by annotation" in one["problem"] for one in checked(tmp_path, text)[1])


CLOUD = """\
- kind: ConfigMap
  apiVersion: v1
  metadata:
   name: fence-config-worker-3
   namespace: node-remedy-system
  data:
   config.properties: |-
    node_name=worker-3
    isolation=mark-unschedulable
    power_management=restart-instance
    recovery=mark-unschedulable
- {apiVersion: v1, kind: Node, metadata: {name: worker-3}, spec: {providerID: "aws:///eu-west-1a/i-01"}}
"""


def test_the_seeds_document_of_a_cloud_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed it is no mistake; how its recovery is read is told."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: AGENTS["fence_aws"])
    code, (found,) = checked(tmp_path, CLOUD)

    assert (0, "note") == (code, found["severity"])
    assert "method mark-unschedulable: recovery: it is read as mark-schedulable" in found["problem"]
    assert (0, []) == checked(tmp_path, CLOUD.replace("recovery=mark-un", "recovery=mark-"))


def noted(tmp_path: Path, text: str) -> list[str]:
    """All notes of an input in which nothing is wrong."""
    code, rows = checked(tmp_path, text)
    assert (0, {"note"}) == (code, {row["severity"] for row in rows} or {"note"})
    return [row["problem"] for row in rows]


@pytest.mark.parametrize("name", ["clean-pods", "detach-volumes"])
def test_a_method_that_changes_nothing_is_noted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds have it in their documents: it is no mistake, and whoever reads it may think that it does something."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: AGENTS["fence_aws"])
    text = CLOUD.replace("recovery=mark-un", "recovery=mark-").replace("=restart-", f"={name} restart-")

    assert [
        f"method {name}: it changes nothing by itself: pods and volumes are freed when the node is proven safe, "
        "whether it is listed or not; leave it out, to have no doubt"
    ] == noted(tmp_path, text)


MACHINE_OF = """\
- apiVersion: cluster.x-k8s.io/v1beta1
  kind: Machine
  metadata: {name: m, namespace: default, annotations: {metal3.io/BareMetalHost: default/h}}
  spec: {clusterName: c, bootstrap: {}, infrastructureRef: {}}
  status: {nodeRef: {kind: Node, name: worker-3}}
"""
HOST_OF = """\
- apiVersion: metal3.io/v1alpha1
  kind: BareMetalHost
  metadata: {name: h, namespace: default}
  spec: {online: true, consumerRef: {kind: Machine, name: m, namespace: default}}
  status: {poweredOn: true}
"""


def backed(method: str, *objects: str) -> str:
    """The document of a cloud with another method, and what stands behind its node."""
    return CLOUD.replace("recovery=mark-un", "recovery=mark-").replace("restart-instance", method) + "".join(objects)


@pytest.mark.parametrize(("objects", "is_noted"), [((), True), ((MACHINE_OF,), False)])
def test_an_instance_that_nobody_would_remove_is_noted(
    objects: tuple[str, ...], is_noted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`terminate` stops it, and only the provider of its Machine removes it."""
    monkeypatch.setattr(command, "describe_here", lambda name, agents_path: AGENTS["fence_aws"])
    words = "method terminate: no Machine that was looked at stands behind the node, so that its instance is stopped"

    assert [is_noted] == [words in text for text in noted(tmp_path, backed("terminate", *objects)) or [""]]


@pytest.mark.parametrize(
    ("objects", "missing"),
    [
        ((), "no Machine that was looked at stands behind the node"),
        ((MACHINE_OF.replace("annotations", "labels"),), "Machine default/m names no BareMetalHost"),
        ((MACHINE_OF,), "BareMetalHost default/h, which its Machine default/m names, is not there"),
        (
            (MACHINE_OF, HOST_OF.replace("name: m", "name: x")),
            "BareMetalHost default/h does not name Machine default/m",
        ),
        ((MACHINE_OF, HOST_OF), ""),
    ],
)
def test_a_host_that_is_not_there_is_noted(objects: tuple[str, ...], missing: str, tmp_path: Path) -> None:
    """`host-power` goes by the Machine of the node and its BareMetalHost: what of them is missing is named."""
    found = noted(tmp_path, backed("host-power", *objects).replace("aws:///eu-west-1a/i-01", ""))

    assert ([f"method host-power: {missing}"] if missing else []) == [text.partition(";")[0] for text in found]


def test_what_stands_behind_a_node_that_stands_in_is_not_asked(tmp_path: Path) -> None:
    """Without a Node among the files nobody knows."""
    assert [] == noted(tmp_path, backed("host-power").partition("- {apiVersion: v1, kind: Node")[0])


# --- nodes that stand in -----------------------------------------------------------------------------------------


def test_a_configuration_alone_has_no_problem(tmp_path: Path) -> None:
    """A node stands in for those that it selects, and how they are fenced is said elsewhere."""
    assert (0, []) == checked(tmp_path, CONFIGURATION)


def test_two_configurations_that_select_the_same_nodes_are_noted(tmp_path: Path) -> None:
    """Also where no Node is known: one of them stands in."""
    other = CONFIGURATION.replace("name: workers", "name: others").replace("type=compute", "type=compute,a=b")

    assert any("workers" in one or "others" in one for one in told(tmp_path, f"{CONFIGURATION}---\n{other}"))


# --- files -------------------------------------------------------------------------------------------------------


def test_what_is_given_twice_is_a_note_that_counts(tmp_path: Path) -> None:
    """In the list, in JSON, and for --strict."""
    code, found = checked(tmp_path, f"{BUDGET}---\n{BUDGET}")

    (note,) = found
    assert (0, "note", 8) == (code, note["severity"], note["line"])
    assert f"is given twice, first in {tmp_path / 'all.yaml'}; the last one counts" in note["problem"]
    assert 1 == checked(tmp_path, f"{BUDGET}---\n{BUDGET}", "--strict")[0]


def test_an_entry_without_a_kind_is_a_note_that_counts(tmp_path: Path) -> None:
    """Nobody would read it, and nobody could apply it."""
    code, found = checked(tmp_path, f"{BUDGET}---\nkind: MachineHealthCheck\nmetadata: {{name: x}}\n", "--strict")

    assert (1, ["note"]) == (code, [one["severity"] for one in found])
    assert "without apiVersion and kind was left out" in found[0]["problem"]
    assert str(tmp_path / "all.yaml") == found[0]["file"]


def test_what_could_not_be_checked_is_not_called_a_note(tmp_path: Path) -> None:
    """Notes are counted, and this is about the machine that checks."""
    (tmp_path / "a.yaml").write_text(CONFIGURATION, encoding="utf-8")

    result = run("-f", tmp_path, "--strict")

    assert 0 == result.return_value
    assert "No problems, 0 notes; 1 object looked at. Nothing was changed.\n" == result.stdout
    assert "Note" not in result.stderr
    assert result.stderr.startswith("There is no Node among the files")


def test_a_broken_file_hides_no_other(tmp_path: Path) -> None:
    """It is one problem among the others, with its file and its line."""
    (tmp_path / "a.yaml").write_text("a: [1\nb: 2\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(BUDGET.replace("3", "many"), encoding="utf-8")

    result = run("-f", tmp_path, "-f", tmp_path / "nowhere.yaml")

    assert 1 == result.return_value
    first, second, third, last = result.stdout.splitlines()
    assert first.startswith(f"{tmp_path / 'a.yaml'}:2: not YAML")
    assert second.startswith(f"{tmp_path / 'b.yaml'}:4: RemediationBudget/cluster: spec.maxInFlight: 'many'")
    assert third.startswith(f"{tmp_path / 'nowhere.yaml'}: No such file or directory")
    assert last.startswith("3 problems, 0 notes; 1 object looked at.")


def test_where_every_file_is_broken_nothing_was_checked(tmp_path: Path) -> None:
    """That is no configuration with a problem."""
    (tmp_path / "a.yaml").write_text("a: [1\n", encoding="utf-8")

    result: Any = run("-f", tmp_path)

    assert isinstance(result.exception, Permanent | click.UsageError)
    assert "a.yaml:2:1: not YAML" in str(result.exception)
