"""MachineHealthChecks of four API versions to one type, and garbage in every field to a problem with a remedy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.checks import OPENSHIFT, SEED, V1BETA1, V1BETA2, WORKERS, a_check_tree, read

from noderemedy.model.healthcheck import Count, Criterion, Dialect, HealthCheck, Percent, TemplateRef, Window
from noderemedy.model.ids import HEALTH_CHECK, OPENSHIFT_HEALTH_CHECK
from noderemedy.model.meta import Malformed, Paused
from noderemedy.model.selector import Selector
from noderemedy.model.time import Span, Wall
from noderemedy.wire.healthchecks import dialect_of, health_check
from noderemedy.wire.objects import convert, decode
from noderemedy.wire.shapes import HealthCheckShape, ManagedMetadata

ALL = [SEED, V1BETA1, V1BETA2, OPENSHIFT]
UNKNOWN, FALSE = (Criterion("Ready", status, Span.seconds(300)) for status in ("Unknown", "False"))
SELECTOR = Selector((("role", "worker"),))
TEMPLATE = {"apiVersion": "remediation.metal3.io/v1alpha1", "kind": "Metal3RemediationTemplate", "name": "m3"}
AS_CAPI, AS_SEED = (
    f", or annotate the check with node-remedy.dev/dialect: {word} if its rules are meant" for word in ("capi", "seed")
)


def a_condition(status: Any = "Unknown", timeout: Any = "5m", kind: Any = "Ready") -> dict[str, Any]:
    return {"type": kind, "status": status, "timeout": timeout}


# --- whole objects -----------------------------------------------------------------------------------------------


def test_the_seeds_example() -> None:
    """Seed 003's check, word for word."""
    spec = {"unhealthyConditions": [a_condition(), a_condition("False")], "maxUnhealthy": "40%"}

    assert HealthCheck(
        uid="check-uid-1",
        dialect=Dialect.SEED,
        selector=SELECTOR,
        node_criteria=(UNKNOWN, FALSE),
        max_unhealthy=Percent(40),
        created=Wall(1_893_456_000_000),
        generation=3,
    ) == read(spec)


def test_the_seeds_example_with_a_template() -> None:
    """Seeds 003 and 004: externalRemediationTemplate, and no conditions at all."""
    check = read({"externalRemediationTemplate": TEMPLATE})

    assert () == check.problems
    assert TemplateRef(TEMPLATE["apiVersion"], TEMPLATE["kind"], "m3", "machine-api") == check.template
    assert () == check.node_criteria


def test_v1beta1() -> None:
    """Cluster API's older words."""
    check = read(
        {
            "unhealthyConditions": [a_condition()],
            "unhealthyMachineConditions": [a_condition("False", "1h30m", "Drained")],
            "maxUnhealthy": 3,
            "unhealthyRange": "[3-5]",
            "nodeStartupTimeout": "20m0s",
            "remediationTemplate": {**TEMPLATE, "namespace": "machine-api"},
        },
        api_version=V1BETA1,
    )

    assert () == check.problems
    assert (Dialect.CAPI, "east") == (check.dialect, check.cluster_name)
    assert ((UNKNOWN,), Count(3), Window(3, 5)) == (check.node_criteria, check.max_unhealthy, check.window)
    assert (Criterion("Drained", "False", Span.seconds(5_400)),) == check.machine_criteria
    assert Span.seconds(1_200) == check.startup_timeout
    assert isinstance(check.template, TemplateRef)


def test_v1beta2() -> None:
    """Cluster API's newer words."""
    condition = {"type": "Ready", "status": "Unknown", "timeoutSeconds": 300}
    check = read(
        {
            "checks": {
                "nodeStartupTimeoutSeconds": 0,
                "unhealthyNodeConditions": [condition],
                "unhealthyMachineConditions": [{"type": "Drained", "status": "False", "timeoutSeconds": 0}],
            },
            "remediation": {
                "triggerIf": {"unhealthyLessThanOrEqualTo": "30%", "unhealthyInRange": "[0-2]"},
                "templateRef": TEMPLATE,
            },
        },
        api_version=V1BETA2,
    )

    assert () == check.problems
    assert ((UNKNOWN,), Percent(30), Window(0, 2)) == (check.node_criteria, check.max_unhealthy, check.window)
    assert (Criterion("Drained", "False", Span(0)),) == check.machine_criteria
    assert Span(0) == check.startup_timeout
    assert TemplateRef(TEMPLATE["apiVersion"], TEMPLATE["kind"], "m3", "machine-api") == check.template


def test_openshift() -> None:
    """OpenShift's words; its termination handler has timeouts of 0."""
    check = read(
        {
            "selector": {},
            "unhealthyConditions": [a_condition("True", "0s", "Terminating")],
            "maxUnhealthy": "100%",
            "nodeStartupTimeout": "0",
            "remediationTemplate": TEMPLATE,
        },
        api_version=OPENSHIFT,
    )

    assert () == check.problems
    assert (Dialect.OPENSHIFT, Selector(), "") == (check.dialect, check.selector, check.cluster_name)
    assert (Criterion("Terminating", "True", Span(0)),) == check.node_criteria
    assert (Percent(100), Span(0)) == (check.max_unhealthy, check.startup_timeout)


@pytest.mark.parametrize("api_version", ALL)
def test_defaults(api_version: str) -> None:
    """No limit, no window, no template, ten minutes for a start; nobody is paused, and nobody asks."""
    check = read({"unhealthyConditions": []} if api_version == OPENSHIFT else None, api_version=api_version)

    assert () == check.problems
    assert (None, None, None, Span.seconds(600)) == (
        check.max_unhealthy,
        check.window,
        check.template,
        check.startup_timeout,
    )
    flags = (check.annotation_mode, check.observes_only, check.needs_approval, check.governs, check.cluster_paused)
    assert (False, False, False, False, False) == flags
    assert (None, False) == (check.paused, check.deleting)


@pytest.mark.parametrize(
    ("api_version", "dialect"),
    [
        (SEED, Dialect.SEED),
        ("cluster.x-k8s.io/v1alpha4", Dialect.CAPI),
        (V1BETA1, Dialect.CAPI),
        (V1BETA2, Dialect.CAPI),
        (OPENSHIFT, Dialect.OPENSHIFT),
        ("", Dialect.CAPI),
        ("other.example/v1alpha3", Dialect.CAPI),
    ],
)
def test_the_dialect_of_a_file(api_version: str, dialect: Dialect) -> None:
    """Without a CRD that tells, the apiVersion says whose words these are."""
    assert dialect is dialect_of(api_version)


def test_bytes_and_trees_are_read_alike() -> None:
    """A watch and a file give the same check."""
    for kind, version in ((HEALTH_CHECK, V1BETA2), (OPENSHIFT_HEALTH_CHECK, OPENSHIFT)):
        tree = a_check_tree({"maxUnhealthy": "40%"}, api_version=version)

        assert convert(kind, tree) == decode(kind, json.dumps(tree).encode())


# --- annotations -------------------------------------------------------------------------------------------------

STRATEGY = {"machine.openshift.io/remediation-strategy": "external-baremetal"}


@pytest.mark.parametrize(
    ("notes", "field", "value"),
    [
        ({"cluster.x-k8s.io/paused": ""}, "cluster_paused", True),
        ({"node-remedy.dev/paused": "true"}, "paused", Paused()),
        ({"node-remedy.dev/paused": "2030-01-01T00:00:00Z"}, "paused", Paused(Wall(1_893_456_000_000))),
        ({"node-remedy.dev/mode": "observe"}, "observes_only", True),
        ({"node-remedy.dev/approval": "required"}, "needs_approval", True),
        ({"node-remedy.dev/govern": "true"}, "governs", True),
        ({"node-remedy.dev/govern": "false"}, "governs", False),
        (STRATEGY, "annotation_mode", True),
    ],
)
def test_what_a_person_steers_with(notes: dict[str, str], field: str, value: object) -> None:
    """Each annotation of a policy is one typed field."""
    check = read(annotations=notes)

    assert (value, ()) == (getattr(check, field), check.problems)


@pytest.mark.parametrize(
    ("notes", "field"),
    [
        ({"node-remedy.dev/mode": "observer"}, "observes_only"),
        ({"node-remedy.dev/approval": "yes"}, "needs_approval"),
        ({"node-remedy.dev/govern": "maybe"}, "governs"),
        ({"machine.openshift.io/remediation-strategy": "external"}, "annotation_mode"),
        ({"node-remedy.dev/paused": "tomorrow"}, ""),
    ],
)
def test_a_word_that_nobody_knows_stops_the_check(notes: dict[str, str], field: str) -> None:
    """A typo in `observe` must not act: the check is invalid until somebody says what was meant."""
    check = read(annotations=notes)

    assert 1 == len(check.problems)
    assert next(iter(notes)) in check.problems[0]
    assert "write" in check.problems[0]
    assert not field or not getattr(check, field)


DIALECTS = [
    (SEED, "", Dialect.SEED),
    (SEED, "capi", Dialect.CAPI),
    (SEED, "seed", Dialect.SEED),
    (V1BETA1, "seed", Dialect.SEED),
    (V1BETA1, "", Dialect.CAPI),
    (OPENSHIFT, "openshift", Dialect.OPENSHIFT),
]


@pytest.mark.parametrize(("api_version", "word", "dialect"), DIALECTS)
def test_a_person_says_by_whose_rules(api_version: str, word: str, dialect: Dialect) -> None:
    """`node-remedy.dev/dialect` comes before the apiVersion, within one group."""
    notes = {"node-remedy.dev/dialect": word}
    check = read({"clusterName": "east"}, api_version=api_version, annotations=notes)

    assert (dialect, ()) == (check.dialect, check.problems)


@pytest.mark.parametrize(
    ("api_version", "word", "remedy"),
    [
        (SEED, "openshift", 'write "seed" or "capi", or remove it'),
        (V1BETA1, "CAPI", 'write "seed" or "capi", or remove it'),
        (OPENSHIFT, "capi", 'write "openshift", or remove it'),
    ],
)
def test_rules_of_another_group_stop_the_check(api_version: str, word: str, remedy: str) -> None:
    """Machines of one group cannot be treated by the rules of the other: nothing is done until somebody mends it."""
    notes = {"node-remedy.dev/dialect": word}
    [problem] = read({}, api_version=api_version, annotations=notes).problems

    assert f"annotation node-remedy.dev/dialect: {word!r} is no dialect for this kind; {remedy}" == problem


@pytest.mark.parametrize(
    ("api_version", "spec", "is_on"),
    [
        (SEED, {}, True),
        (OPENSHIFT, {}, True),
        (V1BETA1, {}, False),
        (SEED, {"externalRemediationTemplate": TEMPLATE}, False),
        (OPENSHIFT, {"remediationTemplate": TEMPLATE}, False),
    ],
)
def test_annotation_mode(api_version: str, spec: dict[str, Any], is_on: bool) -> None:
    """Known to two dialects; it yields to a template."""
    check = read(spec, api_version=api_version, annotations=STRATEGY)

    assert (is_on, ()) == (check.annotation_mode, check.problems)


# --- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api_version", ALL)
@pytest.mark.parametrize(
    ("text", "limit"),
    [(0, Count(0)), (3, Count(3)), ("0%", Percent(0)), ("40%", Percent(40)), ("100%", Percent(100)), (None, None)],
)
def test_limits(api_version: str, text: Any, limit: object) -> None:
    """A number, or a percentage from 0 to 100."""
    check = read({"maxUnhealthy": text}, api_version=api_version)

    assert (limit, ()) == (check.max_unhealthy, check.problems)


BAD_LIMITS = [
    "101%", "1000%", "-5%", "40 %", "4.5%", "foo%50", "1%0", "%", "", "x", "40", 2.5, True, [], {}, "٤%", 2**40,
]  # fmt: skip


@pytest.mark.parametrize("api_version", [SEED, V1BETA1])
@pytest.mark.parametrize("text", [*BAD_LIMITS, -1, "2", "-2"])
def test_limits_that_are_none(api_version: str, text: Any) -> None:
    """Percentages above 100 and garbage make the check invalid; a number in quotes too, as in Cluster API."""
    check = read({"maxUnhealthy": text}, api_version=api_version)

    assert isinstance(check.max_unhealthy, Malformed)
    assert 1 == len(check.problems)
    assert check.problems[0].startswith("spec.maxUnhealthy: ")


@pytest.mark.parametrize(("text", "limit"), [("2", Count(2)), ("0", Count(0)), (-1, Count(0)), ("-3", Count(0))])
def test_limits_of_openshift(text: Any, limit: Count) -> None:
    """OpenShift takes a number in quotes, and a negative one for 0."""
    check = read({"maxUnhealthy": text}, api_version=OPENSHIFT)

    assert (limit, ()) == (check.max_unhealthy, check.problems)


@pytest.mark.parametrize("text", [text for text in BAD_LIMITS if text != "40"])
def test_limits_that_not_even_openshift_takes(text: Any) -> None:
    """Its clamping and its quotes do not make garbage a limit."""
    assert isinstance(read({"maxUnhealthy": text}, api_version=OPENSHIFT).max_unhealthy, Malformed)


@pytest.mark.parametrize(
    ("text", "window"), [("[0-0]", Window(0, 0)), ("[3-5]", Window(3, 5)), ("[10-9999]", Window(10, 9999))]
)
def test_windows(text: str, window: Window) -> None:
    """Two numbers, both included."""
    assert window == read({"unhealthyRange": text}).window


@pytest.mark.parametrize("text", ["[5-3]", "3-5", "[3-]", "[-3]", "[a-b]", "[1-2", "", "[1-2] ", 5, [1, 2], {}, True])
@pytest.mark.parametrize("api_version", [SEED, V1BETA1])
def test_windows_that_are_none(api_version: str, text: Any) -> None:
    """The wrong way round passes admission of Cluster API and fails each look there; here it is told once."""
    check = read({"unhealthyRange": text}, api_version=api_version)

    assert isinstance(check.window, Malformed)
    assert ["spec.unhealthyRange"] == [problem.split(":")[0] for problem in check.problems]


# --- times -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api_version", [SEED, V1BETA1, OPENSHIFT])
@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("0s", 0), ("30s", 30), ("10m", 600), ("1h30m", 5_400), ("10m0s", 600), (None, 600)]
)
def test_startup_timeouts(api_version: str, text: Any, seconds: int) -> None:
    """0 disables, 30 seconds at least, ten minutes by default."""
    check = read({"nodeStartupTimeout": text}, api_version=api_version)

    assert (Span.seconds(seconds), ()) == (check.startup_timeout, check.problems)


@pytest.mark.parametrize("text", ["29s", "1ms", "29.999s", "-10m", "ten", "", 600, True, [], {}])
def test_startup_timeouts_that_are_none(text: Any) -> None:
    """Too short, negative, or no duration at all."""
    check = read({"nodeStartupTimeout": text})

    assert isinstance(check.startup_timeout, Malformed)
    assert ["spec.nodeStartupTimeout"] == [problem.split(":")[0] for problem in check.problems]


@pytest.mark.parametrize("value", [29, 1, -1, "600", True, 1.5, 2**40])
def test_startup_seconds_that_are_none(value: Any) -> None:
    """v1beta2 counts in seconds."""
    check = read({"checks": {"nodeStartupTimeoutSeconds": value}}, api_version=V1BETA2)

    assert isinstance(check.startup_timeout, Malformed)
    assert 1 == len(check.problems)


# --- criteria ----------------------------------------------------------------------------------------------------

BAD_CONDITIONS = [
    ({"type": "Ready", "status": "Unknown"}, "timeout"),
    (a_condition(timeout="5"), "timeout"),
    (a_condition(timeout=300), "timeout"),
    (a_condition(timeout="-5m"), "timeout"),
    (a_condition(timeout="5 m"), "timeout"),
    (a_condition(timeout=None), "timeout"),
    ({**a_condition(), "timeoutSeconds": "300"}, "timeoutSeconds"),
    ({**a_condition(), "timeoutSeconds": -1}, "timeoutSeconds"),
    (a_condition(status=False), "status"),
    (a_condition(status="false"), "status"),
    (a_condition(status=""), "status"),
    (a_condition(status=None), "status"),
    (a_condition(kind=None), "type"),
    (a_condition(kind=""), "type"),
    (a_condition(kind=7), "type"),
    (a_condition(kind=["Ready"]), "type"),
    ("Ready", ""),
    (None, ""),
]


@pytest.mark.parametrize("api_version", [SEED, V1BETA1, OPENSHIFT])
@pytest.mark.parametrize(("item", "field"), BAD_CONDITIONS)
def test_a_condition_that_cannot_be_read(api_version: str, item: Any, field: str) -> None:
    """The problem names the very item and field; the other criteria are read all the same."""
    check = read({"unhealthyConditions": [a_condition(), item]}, api_version=api_version)

    assert (UNKNOWN,) == check.node_criteria
    assert 1 == len(check.problems)
    assert check.problems[0].startswith(f"spec.unhealthyConditions[1]{'.' + field if field else ''}: ")


def test_a_status_without_quotes() -> None:
    """YAML makes a boolean of it; the remedy says so."""
    check = read({"unhealthyConditions": [a_condition(status=False)]})

    assert ('spec.unhealthyConditions[0].status: false cannot be read; write it in quotes: "False"',) == check.problems


@pytest.mark.parametrize("value", ["Ready", {"type": "Ready"}, 5, True])
def test_conditions_that_are_no_list(value: Any) -> None:
    """Then there are none, and it is told."""
    check = read({"unhealthyConditions": value})

    assert ((), 1) == (check.node_criteria, len(check.problems))


@pytest.mark.parametrize(
    "kind", ["Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated"]
)
def test_conditions_that_health_checks_lead_to_are_refused(kind: str) -> None:
    """A check must not be sick of its own signs."""
    check = read(
        {"checks": {"unhealthyMachineConditions": [{"type": kind, "status": "False", "timeoutSeconds": 0}]}},
        api_version=V1BETA2,
    )

    assert ((), 1) == (check.machine_criteria, len(check.problems))


# --- selectors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [{}, None, {"matchLabels": {}}, {"matchExpressions": []}, {"matchLabels": None}])
@pytest.mark.parametrize("api_version", [SEED, V1BETA1, V1BETA2])
def test_an_empty_selector_is_a_mistake(api_version: str, selector: Any) -> None:
    """Whoever names nobody must not get everybody."""
    check = read({"selector": selector}, api_version=api_version)

    assert isinstance(check.selector, Malformed)
    assert ["spec.selector is empty; name at least one label of the machines that are meant"] == list(check.problems)


@pytest.mark.parametrize("selector", [{}, None, {"matchLabels": {}}])
def test_an_empty_selector_of_openshift_means_all(selector: Any) -> None:
    """Its API says so."""
    check = read({"selector": selector}, api_version=OPENSHIFT)

    assert (Selector(), ()) == (check.selector, check.problems)


def test_a_selector_of_another_cluster_is_refused() -> None:
    """As Cluster API does at admission."""
    labels = {"cluster.x-k8s.io/cluster-name": "west", "role": "worker"}

    check = read({"selector": {"matchLabels": labels}}, api_version=V1BETA1)

    assert ("spec.selector names the cluster west, spec.clusterName east; name the same one",) == check.problems


@pytest.mark.parametrize(("name", "count"), [(None, 1), ("", 1), (5, 1), ("east", 0)])
def test_cluster_api_needs_a_clusters_name(name: Any, count: int) -> None:
    """Without it a check would speak for the machines of all clusters of its namespace."""
    assert count == len(read({"clusterName": name}, api_version=V1BETA1).problems)


# --- templates ---------------------------------------------------------------------------------------------------

BAD_TEMPLATES = [
    ({**TEMPLATE, "namespace": "kube-system"}, ".namespace"),
    ({**TEMPLATE, "namespace": 5}, ".namespace"),
    ({**TEMPLATE, "kind": "Metal3Remediation"}, ".kind"),
    ({**TEMPLATE, "kind": "Template"}, ".kind"),
    ({**TEMPLATE, "apiVersion": "not an api version"}, ".apiVersion"),
    ({**TEMPLATE, "apiVersion": "a/b/v1"}, ".apiVersion"),
    ({**TEMPLATE, "apiVersion": "v1"}, ".apiVersion"),
    ({**TEMPLATE, "apiVersion": "apps/v1"}, ".apiVersion"),
    ({**TEMPLATE, "name": ""}, ".name"),
    ({key: TEMPLATE[key] for key in ("apiVersion", "kind")}, ".name"),
    ({key: TEMPLATE[key] for key in ("apiVersion", "name")}, ".kind"),
    ("m3", ""),
    ([], ""),
    (True, ""),
]


@pytest.mark.parametrize(
    ("api_version", "field"),
    [(SEED, "externalRemediationTemplate"), (V1BETA1, "remediationTemplate"), (OPENSHIFT, "remediationTemplate")],
)
@pytest.mark.parametrize(("template", "part"), BAD_TEMPLATES)
def test_a_template_that_cannot_be_read(api_version: str, field: str, template: Any, part: str) -> None:
    """It is not the same as none: without a template machines would be deleted."""
    check = read({field: template}, api_version=api_version)

    assert isinstance(check.template, Malformed)
    assert [f"spec.{field}{part}"] == [problem.split(":")[0] for problem in check.problems]


@pytest.mark.parametrize(
    ("api_version", "spec", "remedy"),
    [
        (SEED, {"remediationTemplate": TEMPLATE}, f"write spec.externalRemediationTemplate{AS_CAPI}"),
        (OPENSHIFT, {"externalRemediationTemplate": TEMPLATE}, "write spec.remediationTemplate"),
        (
            V1BETA1,
            {"externalRemediationTemplate": TEMPLATE},
            f"write spec.remediation.templateRef or spec.remediationTemplate{AS_SEED}",
        ),
        (SEED, {"remediation": {"triggerIf": {"unhealthyLessThanOrEqualTo": 1}}}, f"write spec.maxUnhealthy{AS_CAPI}"),
        (OPENSHIFT, {"unhealthyRange": "[1-2]"}, "remove it"),
        (OPENSHIFT, {"unhealthyMachineConditions": [a_condition()]}, "remove it"),
        (SEED, {"checks": {"unhealthyNodeConditions": [a_condition()]}}, f"write spec.unhealthyConditions{AS_CAPI}"),
        (SEED, {"checks": {"nodeStartupTimeoutSeconds": 60}}, f"write spec.nodeStartupTimeout{AS_CAPI}"),
    ],
)
def test_a_field_of_another_dialect_is_a_mistake(api_version: str, spec: dict[str, Any], remedy: str) -> None:
    """A limit or a template that is silently not read would cost machines."""
    check = read(spec, api_version=api_version)

    assert 1 == len(check.problems)
    assert check.problems[0].endswith(f"; {remedy}")


def test_a_check_of_cluster_api_03_is_read_as_its_problem_says() -> None:
    """v1alpha3 with a `remediationTemplate`: invalid by the seed's rules, and whole with the annotation it is told."""
    spec = {"clusterName": "east", "remediationTemplate": TEMPLATE}
    [problem] = read(spec).problems
    check = read(spec, annotations={"node-remedy.dev/dialect": "capi"})

    assert "annotate the check with node-remedy.dev/dialect: capi" in problem
    assert ((), Dialect.CAPI) == (check.problems, check.dialect)
    assert isinstance(check.template, TemplateRef)


@pytest.mark.parametrize("api_version", ALL)
def test_a_dialect_may_be_told(api_version: str) -> None:
    """Whose CRD is installed decides: the same object may be read in another dialect than its apiVersion says."""
    shape = HealthCheckShape(ManagedMetadata("x"), api_version, {"selector": WORKERS, "maxUnhealthy": "2"})

    assert Count(2) == health_check(shape, Dialect.OPENSHIFT).max_unhealthy
    assert isinstance(health_check(shape, Dialect.SEED).max_unhealthy, Malformed)


# --- garbage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", ["x", 5, True, [], [1], {"checks": 5}, {"remediation": []}, {"remediation": {"triggerIf": "x"}}]
)
def test_garbage_instead_of_objects(spec: Any) -> None:
    """Anything but an object is told with its path, and nothing is raised."""
    check = read(spec, api_version=V1BETA2)

    assert not check.is_valid
    assert all(problem.startswith("spec") for problem in check.problems)


def test_everything_wrong_is_told_at_once() -> None:
    """One wrong field does not hide the others."""
    check = read(
        {
            "maxUnhealthy": "500%",
            "unhealthyRange": "[9-1]",
            "nodeStartupTimeout": "1s",
            "externalRemediationTemplate": "x",
            "selector": {"role": "worker"},
            "unhealthyConditions": [{}],
        }
    )

    assert 8 == len(check.problems)
    assert len(check.problems) == len(set(check.problems))


def test_problems_are_bounded() -> None:
    """A thousand wrong items do not fill an event."""
    check = read({"unhealthyConditions": [{} for _ in range(1_000)]})

    assert 21 == len(check.problems)
    assert "and 2980 more" == check.problems[-1]
    assert len(check.trouble) < 1_000


def test_long_garbage_is_cut() -> None:
    """A megabyte in a field is not repeated in the problem."""
    check = read({"maxUnhealthy": "9" * 1_000_000, "nodeStartupTimeout": "9" * 1_000_000 + "h"})

    assert 2 == len(check.problems)
    assert all(len(problem) < 300 for problem in check.problems)


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=6),
    st.sampled_from(["5m", "40%", "[1-3]", "True", "Ready", "worker", "v1", "0"]),
)  # fmt: skip
keys = st.sampled_from(
    ["selector", "matchLabels", "matchExpressions", "key", "operator", "values", "clusterName", "unhealthyConditions",
     "type", "status", "timeout", "timeoutSeconds", "maxUnhealthy", "unhealthyRange", "nodeStartupTimeout", "checks",
     "unhealthyNodeConditions", "unhealthyMachineConditions", "nodeStartupTimeoutSeconds", "remediation", "triggerIf",
     "unhealthyInRange", "unhealthyLessThanOrEqualTo", "templateRef", "remediationTemplate", "apiVersion", "kind",
     "name", "namespace", "externalRemediationTemplate", "x"]
)  # fmt: skip
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5), max_leaves=15
)


@given(trees, st.sampled_from(ALL))
def test_garbage_never_raises(spec: Any, api_version: str) -> None:
    """Whatever the spec: a check comes back, and every Malformed field has its problem."""
    check = read(spec, api_version=api_version)

    fields = (check.selector, check.max_unhealthy, check.window, check.startup_timeout, check.template)
    assert check.is_valid or all(isinstance(problem, str) and problem for problem in check.problems)
    assert not check.is_valid or not any(isinstance(field, Malformed) for field in fields)


@given(st.dictionaries(keys, trees, max_size=6), st.sampled_from([SEED, V1BETA1, V1BETA2]))
def test_a_valid_check_never_selects_everything(spec: dict[str, Any], api_version: str) -> None:
    """Where an empty selector is a mistake, no garbage makes one."""
    check = read(spec, api_version=api_version)

    assert not check.is_valid or (isinstance(check.selector, Selector) and not check.selector.is_empty)


@given(st.sampled_from(["mode", "approval", "govern", "paused"]), st.text(max_size=10))
def test_garbage_in_annotations_never_acts_by_guess(name: str, text: str) -> None:
    """An annotation says one of its words, nothing, or makes the check invalid."""
    check = read(annotations={f"node-remedy.dev/{name}": text})

    known = {"mode": ["observe"], "approval": ["required"], "govern": ["true", "false"], "paused": []}[name]
    if name != "paused":
        assert check.is_valid == (text.strip() in ["", *known])
    assert check.is_valid or check.problems
