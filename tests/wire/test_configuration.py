"""Configuration documents: the seed's own words are read, and every mistake is told with its line and its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.model.configuration import (
    Alarm,
    Configuration,
    EventSign,
    FenceRemedy,
    ParkAfter,
    Policy,
    Remedy,
    SkipCondition,
)
from noderemedy.model.nodefence import FenceSpec
from noderemedy.model.selector import Expression, Operator, Selector
from noderemedy.model.time import MINUTE, Span
from noderemedy.model.workload import FreeBy
from noderemedy.wire import configuration
from noderemedy.wire.configuration import is_meant, read_configuration

SEED = Path(__file__).parent.parent.parent / "examples" / "node-remedy-seed" / "compute.yaml"
HEAD = "apiVersion: node-remedy/v1alpha\nkind: Configuration\n"
READY = "thresholdConfigs:\n- nodeConditionType: Ready\n  nodeConditionStatus: [false, Unknown]\n"
REST = "  nodeConditionPeriod: 5m\n  remedy1: {name: fix}\nremedyConfigs:\n- {name: fix, nodeFence: {}}\n"
USUAL = HEAD + READY + REST


def read(*more: str) -> Configuration:
    """The usual document with more lines at its end."""
    return read_configuration(USUAL + "\n".join(more))


def changed(old: str, new: str) -> Configuration:
    assert old in USUAL, old
    return read_configuration(USUAL.replace(old, new))


def test_the_seeds_example_is_read_as_printed() -> None:
    """Selector, both thresholds, all remedies, periods, clean-resourece, and what is not defined."""
    [tree] = yaml.safe_load_all(SEED.read_text(encoding="utf-8"))
    found = read_configuration(tree["data"]["config.yaml"])
    ready, pressure = found.thresholds

    assert () == found.problems
    assert Selector((("type", "compute"),)) == found.selector
    assert ("Ready", ("False",), Span.seconds(5)) == (ready.condition, ready.statuses, ready.period)
    assert (Remedy("repair", MINUTE * 3), Remedy("terminate", MINUTE * 5, cleans=True)) == ready.remedies
    assert ("DiskPressure=True", "recovery") == (pressure.name, pressure.recovery)
    assert ["repair", "terminate"] == [one.name for one in found.definitions]
    assert ["recovery", "storage-fence", "Ready=False"] == [
        hint.split(": ", 1)[1].split()[i] for hint, i in zip(found.hints, (1, 1, 0), strict=True)
    ]


def test_plain_maps_and_lists_of_maps_mean_the_same() -> None:
    """The seed's lists of single entries, a map, and a bare name."""
    forms = ("{name: fix, period: 5m}", "[{name: fix}, {period: 5m}]", "fix")
    found = [changed("remedy1: {name: fix}", f"remedy1: {form}").thresholds[0].remedies for form in forms]

    assert [(Remedy("fix"),)] * 3 == found


POD = "- {name: fix, podTemplate: {spec: {containers: [{name: fix, image: example/fix}]}}}"
CLEANING = [
    ("{name: fix}", "- {name: fix, nodeFence: {}}", []),
    ("{name: fix, clean-resource: false}", "- {name: fix, nodeFence: {}}", []),
    ("{name: fix, clean-resource: true}", POD, []),
    ("{name: fix, clean-resource: true}", "- {name: fix, nodeFence: {}}", ["clean-resource of remedy fix"]),
]


@pytest.mark.parametrize(("remedy", "definition", "expected"), CLEANING, ids=str)
def test_clean_resource_of_a_fence_flow_is_pointed_out(remedy: str, definition: str, expected: list[str]) -> None:
    """Whoever writes it believes that it frees something; a fence flow frees what it has proven, and no more."""
    text = USUAL.replace("{name: fix}", remedy).replace("- {name: fix, nodeFence: {}}", definition)
    found = read_configuration(text)

    assert () == found.problems
    assert expected == [hint.split(": ", 1)[1].partition(" does")[0] for hint in found.hints]


VIRTUAL = Expression("virtual", Operator.DOES_NOT_EXIST)
SELECTORS = [
    ("type=compute", Selector((("type", "compute"),))),
    ("a=1,b=2", Selector((("a", "1"), ("b", "2")))),
    ("rack in (r1, r2), !virtual", Selector((), (Expression("rack", Operator.IN, ("r1", "r2")), VIRTUAL))),
    ("a = 1, type!=db", Selector((("a", "1"),), (Expression("type", Operator.NOT_IN, ("db",)),))),
    ("type", Selector((), (Expression("type", Operator.EXISTS),))),
    ('{type: compute, zone: "1"}', Selector((("type", "compute"), ("zone", "1")))),
    (
        "{matchExpressions: [{key: a, operator: Exists}]}",
        Selector((), (Expression("a", Operator.EXISTS),)),
    ),
]


@pytest.mark.parametrize(("text", "selector"), SELECTORS)
def test_node_selectors(text: str, selector: Selector) -> None:
    """The seed's words, and all that `kubectl -l` takes, as in fence documents; a map of labels; Kubernetes' own."""
    found = read(f"nodeSelector: {text}")

    assert (selector, ()) == (found.selector, found.problems)


def test_without_a_selector_all_nodes_are_meant() -> None:
    """It is optional in the seed."""
    assert Selector() == read().selector


def test_everything_else_that_can_be_said() -> None:
    """Policy, alarms, parking, the way of freeing, and fences as remedies."""
    found = read(
        "policy: {skipWhenUnresponsive: 40, skipWhenNodeCondition: [Lost, {type: Net, status: false}],",
        "  oneAtATime: true, podsPerMinute: 30}",
        "alarms: [{conditionType: KernelDeadlock, count: 3, within: 24h}]",
        "parkAfter: {count: 5, within: 24h}",
        "freeBy: pods",
    )

    assert () == found.problems
    assert Policy(40, (SkipCondition("Lost"), SkipCondition("Net", "False")), True, 30) == found.policy
    assert (Alarm("KernelDeadlock", 3, MINUTE * 1440),) == found.alarms
    assert (ParkAfter(5, MINUTE * 1440), FreeBy.PODS) == (found.park_after, found.free_by)
    assert isinstance(found.definitions[0].how, FenceRemedy)


def test_a_fence_may_have_times_of_its_own() -> None:
    """The same fields with the same defaults as a NodeFence has; null is as good as none."""
    delays = "newDelay: 10s, powerManagementDelay: 0s, nodeReadyTimeout: 15m"
    times = f"{{{delays}, stepRetries: 1, maxRestarts: 0, ttlAfterFinal: 2h}}"
    said = FenceSpec("", "", 1, 0, MINUTE * 15, Span.seconds(10), Span(0), ttl_after_final=MINUTE * 120)
    found = [changed("nodeFence: {}", f"nodeFence: {one}") for one in (times, "", "{}")]

    assert [(), (), ()] == [one.problems for one in found]
    assert [FenceRemedy(said), FenceRemedy(), FenceRemedy()] == [one.definitions[0].how for one in found]


def test_alarms_on_events_and_on_other_statuses() -> None:
    """Each says how its problem is tracked where no threshold does."""
    found = read(
        "alarms:",
        "- {nodeEventReason: OOMKilling, count: 2, within: 1h}",
        "- {conditionType: VolumesReady, conditionStatus: [false, Unknown], count: 2, within: 1h}",
        "- {conditionType: KernelDeadlock, count: 2, within: 1h}",
        "- {conditionType: KernelDeadlock, count: 9, within: 24h}",
        "- {conditionType: Ready, count: 2, within: 1h}",
    )

    assert () == found.problems
    assert ["event OOMKilling", "VolumesReady=False|Unknown", "KernelDeadlock=True"] == [
        one.name for one in found.watched
    ]
    assert ("OOMKilling",) == found.event_reasons
    assert not any(one.remedies for one in found.watched)


def test_thresholds_of_events() -> None:
    """Events that node-problem-detector writes about a node, so many within so long."""
    lines = "- nodeEventReason: KernelOops\n  count: 3\n  within: 1h\n  remedy1: fix\nremedyConfigs:"
    found = read_configuration(USUAL.replace("remedyConfigs:", lines))

    assert () == found.problems
    assert EventSign("KernelOops", 3, MINUTE * 60) == found.thresholds[1].event
    assert "event KernelOops" == found.thresholds[1].name


POD = "- {name: fix, podTemplate: %s}"
FENCE = "- {name: fix, nodeFence: {}}"
CONTAINER = "{spec: {containers: [{name: c, image: i%s}]}}"
MISTAKES = [
    ("kind: Configuration", "kind: Config", ":2: kind:"),
    ("node-remedy/v1alpha", "node-remedy/v2", ":1: apiVersion:"),
    ("thresholdConfigs:", "thresholds:", "is no field of this document"),
    ("nodeConditionType: Ready", "nodeConditionType: 5", ":4: thresholdConfigs[0].nodeConditionType:"),
    ("[false, Unknown]", "[false, maybe]", ":5: thresholdConfigs[0].nodeConditionStatus[1]: 'maybe' cannot be"),
    ("nodeConditionPeriod: 5m", "nodeConditionPeriod: soon", ":6: thresholdConfigs[0].nodeConditionPeriod:"),
    ("nodeConditionPeriod: 5m", "nodeConditionPeriod: 300", "write a duration like 5m"),
    ("nodeConditionPeriod: 5m", "nodeConditionPeriode: 5m", "did you mean nodeConditionPeriod?"),
    ("remedy1: {name: fix}", "remedy2: {name: fix}", "there is no remedy1 before it"),
    ("remedy1: {name: fix}", "recovery: {name: fix}", "a threshold without remedy1 does nothing"),
    ("remedy1: {name: fix}", "remedy1: {period: 5m}", ":7: thresholdConfigs[0].remedy1.name:"),
    ("remedy1: {name: fix}", "remedy1: [{name: a}, {name: b}]", "given twice in this remedy"),
    ("remedy1: {name: fix}", "remedy1: {name: fix, clean-resource: maybe}", "write true or false"),
    ("remedy1: {name: fix}", "remedy1: {name: fix}\n  remedy1: {name: fix}", ":8: key 'remedy1' is given twice"),
    ("remedyConfigs:", f"{READY[18:]}  nodeConditionPeriod: 1m\n  remedy1: fix\nremedyConfigs:", "is tracked twice"),
    (FENCE, "- {name: fix}", "write either podTemplate or nodeFence"),
    (FENCE, f"{FENCE}\n{FENCE}", "remedy fix is defined twice"),
    (FENCE, "- {name: fix, nodeFence: {plug: 1}}", "methods are in fence-config-NODE"),
    (FENCE, "- {name: fix, nodeFence: 5}", ":9: remedyConfigs[0].nodeFence: 5 cannot be read; write an object"),
    (FENCE, "- {name: fix, nodeFence: {newDelay: 0}}", ":9: remedyConfigs[0].nodeFence.newDelay: 0 cannot be read;"),
    (FENCE, "- {name: fix, nodeFence: {newDelay: 25h}}", "write a duration like 5m, at most 24h"),
    (FENCE, "- {name: fix, nodeFence: {stepRetries: -1}}", "remedyConfigs[0].nodeFence.stepRetries: -1"),
    (FENCE, "- {name: fix, nodeFence: {node: n1}}", "remedyConfigs[0].nodeFence.node: is no field of a fence here"),
    (FENCE, "- {name: fix, nodeFence: {powerManagmentDelay: 0s}}", "did you mean powerManagementDelay?"),
    (FENCE, POD % "{spec: {}}", "write at least one container"),
    (FENCE, POD % "{}", "write a pod spec"),
    (FENCE, POD % (CONTAINER % ", env: [[]]"), "write names of Secrets"),
    (FENCE, POD % (CONTAINER % ", configmaps: ['A B']"), "write a list of names"),
    (FENCE, POD % "{spec: {nodeName: n1, containers: [{name: c, image: i}]}}", "may not be set here"),
    (FENCE, POD % "{spec: {restartPolicy: Always, containers: [{name: c, image: i}]}}", "write Never"),
    (FENCE, POD % (CONTAINER % ", playbook: 'https://example.com/x.yml'"), "playbooks are not fetched"),
    (FENCE, POD % "{spec: {containers: [{name: c}]}}", "podTemplate.spec.containers[0].image:"),
    (FENCE, "- {name: fix, retries: 99, podTemplate: %s}" % (CONTAINER % ""), "write a number from 0 to 6"),
    (FENCE, "- {name: fix, deadline: 48h, podTemplate: %s}" % (CONTAINER % ""), "at most a day"),
    ("thresholdConfigs:", "nodeSelector: type in r1\nthresholdConfigs:", "write labels like type=compute"),
    ("thresholdConfigs:", "nodeSelector: a=1,\nthresholdConfigs:", "write labels like type=compute"),
    ("thresholdConfigs:", "nodeSelector: ' '\nthresholdConfigs:", "write labels like type=compute"),
    ("thresholdConfigs:", "nodeSelector: {a: true}\nthresholdConfigs:", "write it in quotes"),
    ("thresholdConfigs:", "policy: {skipWhenUnresponsive: 140%}\nthresholdConfigs:", "from 1% to 100%"),
    ("thresholdConfigs:", "policy: {skipWhenNodeCondition: [1]}\nthresholdConfigs:", "write the type of a condition"),
    ("thresholdConfigs:", "policy: {podsPerMinute: 0}\nthresholdConfigs:", "write a number from 1 on"),
    ("thresholdConfigs:", "alarms: [{conditionType: A, count: 0, within: 1h}]\nthresholdConfigs:", "alarms[0].count"),
    *(
        ("thresholdConfigs:", f"alarms: [{{{alarm}, count: 2, within: 1h}}]\nthresholdConfigs:", told)
        for alarm, told in {
            "conditionType: A, nodeEventReason: B": "alarms[0].conditionType: an alarm is about a condition or",
            "nodeEventReason: B, conditionStatus: true": "alarms[0].conditionStatus: events have none; remove it",
            "conditionType: Ready, conditionStatus: false": "a threshold says which of Ready count; remove it",
            "conditionType: A, conditionStatus: bad": "alarms[0].conditionStatus: 'bad' cannot be read",
            "nodeEventReason: 5": "alarms[0].nodeEventReason:",
        }.items()
    ),
    ("thresholdConfigs:", "parkAfter: 5\nthresholdConfigs:", "write an object with count and within"),
    ("thresholdConfigs:", "freeBy: node\nthresholdConfigs:", "write one of taint, pods"),
    ("thresholdConfigs:", "a: !!python/object:os.system x\nthresholdConfigs:", "has no meaning"),
    ("thresholdConfigs:", "a: &a [*a]\nthresholdConfigs:", "config.yaml:3:"),
    ("thresholdConfigs:", "---\nthresholdConfigs:", "write one document per ConfigMap"),
    ("thresholdConfigs:", "{\nthresholdConfigs:", "not YAML"),
]


@pytest.mark.parametrize(("old", "new", "told"), MISTAKES, ids=[new[:40] for _, new, _ in MISTAKES])
def test_mistakes_are_told_with_their_place(old: str, new: str, told: str) -> None:
    """Each names file, line, field and remedy, and such a document is not valid."""
    found = changed(old, new)

    assert not found.is_valid
    assert any(told in problem for problem in found.problems), found.problems
    assert all(problem.startswith("config.yaml:") for problem in found.problems)


def test_one_mistake_does_not_hide_another() -> None:
    """All of them are in the list."""
    found = read_configuration(USUAL.replace("5m", "soon").replace("[false, Unknown]", "maybe"))

    assert 2 == len(found.problems)


def test_long_and_deep_texts_are_refused() -> None:
    """What no person wrote is not read for minutes."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 5)
    )

    assert "longer than" in read_configuration("x" * (configuration.LETTERS_MAX + 1)).trouble
    assert "unfold" in read_configuration(HEAD + bomb).trouble
    assert "nested too deeply" in read_configuration(HEAD + "a: " + "[" * 100_000 + "]" * 100_000).trouble


@pytest.mark.parametrize(
    ("text", "is_ours"),
    [
        (USUAL, True),
        ("apiVersion: node-remedy/v1alpha\n]", True),
        ('{"apiVersion": "node-remedy/v1alpha"', True),
        ("apiVersion: example.com/v1\nnote: apiVersion of node-remedy", False),
        ("kind: Configuration\n", False),
        ("{}", False),
    ],
)
def test_whose_document_it_is(text: str, is_ours: bool) -> None:
    """The key config.yaml is everybody's; the apiVersion tells, also where the rest is broken."""
    assert is_ours == is_meant(text)


def test_half_a_character_has_its_line() -> None:
    """No text that the API knows has one; it is told all the same, and not raised."""
    assert ("config.yaml:3:",) == tuple(one[:14] for one in changed("thresholdConfigs:", "\ud800:").problems)


@settings(max_examples=100)
@given(st.text(), st.integers(0, len(USUAL)))
def test_any_text_is_read_or_told(text: str, place: int) -> None:
    """No text whatever ends in anything but a document or its problems, each with the file's name."""
    for document in (text, USUAL[:place] + text + USUAL[place:]):
        found = read_configuration(document)
        assert all(problem.startswith("config.yaml") for problem in found.problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["5m", "fix", "Ready"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "spec", "containers", "env", "remedy1", "podTemplate", "nodeFence", "policy", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(st.sampled_from(["thresholdConfigs", "remedyConfigs", "policy", "alarms", "parkAfter", "nodeSelector"]), JSON)
def test_any_tree_is_read_or_told(name: str, tree: object) -> None:
    """Whatever stands in a field, it is read or told: nothing raises."""
    text = HEAD + yaml.safe_dump({name: tree}, allow_unicode=True)

    assert isinstance(read_configuration(text), Configuration)
