"""External remediation in virtual time: an invented kind of template, a doctor that answers it, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from noderemedy.core.external import lifecycle
from noderemedy.engine.telling import Notice
from noderemedy.model.decision import NOTHING
from noderemedy.model.ids import HEALTH_CHECK, MACHINE, Kind
from noderemedy.model.reasons import RequestLeft
from noderemedy.sim.apiserver import Tree, WatchEvent
from noderemedy.sim.apiserver.errors import forbidden
from noderemedy.sim.checkers import Checkers
from noderemedy.sim.cluster import Cluster, machine_of
from noderemedy.sim.extras import PLAIN
from noderemedy.sim.hospital import Hospital, hospital_of
from noderemedy.sim.kinds import CUSTOM_RESOURCE
from noderemedy.sim.objects import NAMESPACE
from noderemedy.sim.process import Process
from noderemedy.sim.run import simulate
from noderemedy.sim.server import Server
from noderemedy.sim.troubles import MINUTE_MS
from noderemedy.sim.ward import CHECK_NAME, DOCTOR, TEMPLATE, TEMPLATE_NAME, definition
from noderemedy.sim.weather import CALM


class Story:
    """Six quiet nodes, two of them in the ward, and one manager."""

    def __init__(self, before: Callable[[Hospital], object] = lambda hospital: None) -> None:
        self.cluster = Cluster(nodes=6, seed=1, replicas=3, tracks_fields=False)
        self.checkers = Checkers(self.cluster)
        self.hospital = Hospital(self.cluster, self.checkers, beds=2, seed=1)
        before(self.hospital)
        self.process = Process("manager-1", self.cluster, weather=CALM, seed=1)
        self.patient = self.hospital.ward.nodes[0]
        self.machine = machine_of(self.patient)
        self.requests: list[Tree] = []
        self.process.start()
        self.run(10)  # long enough that nobody doubts what the observer saw
        if self.cluster.api.resources.find(DOCTOR):
            self.cluster.api.subscribe(DOCTOR, self._note)

    def _note(self, event: WatchEvent) -> None:
        if event.type == "ADDED":
            self.requests.append(event.tree)

    def run(self, minutes: float) -> None:
        self.cluster.agenda.run_until(self.cluster.agenda.now_ms + round(minutes * MINUTE_MS))

    @property
    def server(self) -> Server:
        return self.cluster.servers[self.patient]

    def request(self) -> Tree | None:
        return self.cluster.api.find(DOCTOR, self.machine, NAMESPACE)

    def until(self, is_so: Callable[[], object], minutes: int = 30) -> None:
        """Run until this is so."""
        for _ in range(minutes * 60):
            if is_so():
                return
            self.run(1 / 60)
        raise AssertionError(f"not within {minutes} minutes")

    def fall_ill(self) -> Tree:
        """The patient's server panics; returns the request for it."""
        self.server.panic()
        self.until(self.request)
        found = self.request()
        assert found is not None
        return found

    def of_check(self, type: str) -> Tree:
        """What the ward's check says of this."""
        conditions = self.cluster.api.get(HEALTH_CHECK, CHECK_NAME, NAMESPACE)["status"]["conditions"]
        return next((one for one in conditions if one["type"] == type), {})

    def told(self) -> list[str]:
        return [type(notice.reason).__name__ for notice in self.process.notices]

    def acted(self, name: str) -> int:
        return self.process.acted.count(name)


def test_a_patient_is_treated() -> None:
    """Sick, request, treated by its own controller, well, request deleted; one write each, and then none."""
    it = Story()
    it.fall_ill()
    it.until(lambda: it.hospital.checkers.gone)
    it.run(15)  # status and incident follow
    it.hospital.checkers.at_rest()
    it.checkers.at_rest(it.process.engine)
    writes = len(it.process.writes)
    it.run(30)

    assert (1, 1) == (it.acted("CreateRequest"), it.acted("DeleteRequest"))
    assert ["RequestNeeded"] == [name for name in it.told() if name == "RequestNeeded"]
    assert [] == it.checkers.violations
    assert it.hospital.doctor.treated
    assert writes == len(it.process.writes)


def test_what_a_request_looks_like() -> None:
    """The template's words under the machine's name, with one owner, and nothing else of ours."""
    it = Story()
    it.fall_ill()
    (made,) = it.requests
    machine = it.cluster.api.get(MACHINE, it.machine, NAMESPACE)
    meta = {
        key: value for key, value in made["metadata"].items() if key in ("labels", "annotations", "ownerReferences")
    }

    assert (it.machine, NAMESPACE, {"dose": 3}) == (
        made["metadata"]["name"],
        made["metadata"]["namespace"],
        made["spec"],
    )
    assert {
        "labels": {"shift": "night", "cluster.x-k8s.io/cluster-name": "lab"},
        "annotations": {
            "cluster.x-k8s.io/cloned-from-name": TEMPLATE_NAME,
            "cluster.x-k8s.io/cloned-from-groupkind": "DoctorTemplate.example.com",
        },
        "ownerReferences": [
            {
                "apiVersion": machine["apiVersion"],
                "kind": "Machine",
                "name": it.machine,
                "uid": machine["metadata"]["uid"],
            }
        ],
    } == meta


def test_a_finalizer_is_respected() -> None:
    """The request is deleted once; until its controller lets it go it stays, and is left alone."""
    it = Story()
    it.fall_ill()
    it.hospital.doctor.patience_ms = (40 * MINUTE_MS, 41 * MINUTE_MS)
    it.until(lambda: "deletionTimestamp" in (it.request() or {"metadata": {}})["metadata"])
    it.run(30)

    assert it.request() is not None
    assert 1 == it.acted("DeleteRequest")


def test_a_request_is_deleted_by_hand() -> None:
    """Fault 29: the machine is still sick, so it gets a new one when the old one is gone; never two at once."""
    it = Story()
    it.server.is_broken = True
    first = it.fall_ill()
    it.run(1)
    it.cluster.api.delete(DOCTOR, it.machine, NAMESPACE)
    it.until(lambda: (it.request() or first)["metadata"]["uid"] != first["metadata"]["uid"])
    it.server.is_broken = False
    it.until(lambda: it.hospital.checkers.gone == 2)

    assert 2 == len(it.requests)
    assert [] == it.checkers.violations


def test_a_finalizer_is_removed_by_hand() -> None:
    """Fault 30: a request that vanishes while it is being deleted is gone, no more and no less."""
    it = Story()
    it.fall_ill()
    it.until(lambda: "deletionTimestamp" in (it.request() or {"metadata": {}})["metadata"])
    it.cluster.api.patch(DOCTOR, it.machine, NAMESPACE, {"metadata": {"finalizers": None}}, "merge")
    it.run(30)

    assert (None, 1) == (it.request(), len(it.requests))
    assert [] == it.checkers.violations


def test_a_template_that_comes_later() -> None:
    """No template, no request, and that is said once; made within two minutes after it is there."""
    it = Story(lambda hospital: hospital.ward.tear_template())
    it.server.is_broken = True
    it.server.panic()
    it.run(30)
    before = (it.request(), it.told().count("TemplateNotFound"))
    missing = it.of_check("ExternalRemediationTemplateAvailable")
    it.hospital.ward.write_template()
    it.run(2)

    assert (None, 1) == before
    assert it.request() is not None
    assert ("False", "ExternalRemediationTemplateNotFound") == (missing["status"], missing["reason"])
    assert TEMPLATE_NAME in missing["message"]
    assert "True" == it.of_check("ExternalRemediationTemplateAvailable")["status"]


def test_a_kind_that_comes_later() -> None:
    """The definitions are missing, then installed; one that is missing holds up nobody else."""

    def uninstall(hospital: Hospital) -> None:
        for name in ("doctors.example.com", "doctortemplates.example.com"):
            hospital.cluster.api.delete(CUSTOM_RESOURCE, name)

    it = Story(uninstall)
    it.server.is_broken = True
    it.server.panic()
    other = next(iter(it.cluster.servers))
    it.cluster.servers[other].hang()
    it.run(2)
    it.cluster.mark(other)
    it.run(28)
    before = it.told().count("TemplateKindMissing")
    for kind in (DOCTOR, TEMPLATE):
        it.cluster.api.create(definition(kind))
    it.hospital.ward.write_template()
    it.run(2)

    assert 1 == before
    assert other in it.checkers.freed_at
    assert it.request() is not None


def test_a_request_that_the_api_refuses() -> None:
    """Said on its machine, tried again every minute, and others are treated meanwhile."""
    it = Story()

    def refuse(verb: str, resource: Any, old: Tree | None, new: Tree | None, user: Any) -> None:
        if verb == "create" and resource.kind == DOCTOR and new and new["metadata"]["name"] == it.machine:
            raise forbidden(resource, it.machine, "no doctor for this one")

    it.cluster.api.hooks.append(refuse)
    other = it.hospital.ward.nodes[1]
    it.server.panic()
    it.cluster.servers[other].panic()
    it.until(lambda: it.hospital.checkers.gone)
    complaints = it.told().count("ActionRefused")
    tried = it.acted("CreateRequest")
    it.run(10)
    again = it.acted("CreateRequest") - tried
    it.cluster.api.hooks.clear()
    it.until(lambda: it.hospital.checkers.gone == 2)

    assert complaints in (1, 2)  # once more after another write of its key went well
    assert 5 <= again <= 15
    assert [machine_of(other), it.machine] == [made["metadata"]["name"] for made in it.requests]


def test_a_machine_that_goes_takes_its_request_along() -> None:
    """By its owner reference; the next Machine of that name is another one."""
    it = Story()
    it.server.is_broken = True
    first = it.fall_ill()
    it.run(1)
    it.cluster.delete_machine(it.patient)
    it.run(3)
    gone = it.request()
    it.cluster.create_machine(it.patient)
    it.until(it.request, 60)
    second = it.request()

    assert gone is None
    assert second is not None
    assert first["metadata"]["ownerReferences"][0]["uid"] != second["metadata"]["ownerReferences"][0]["uid"]
    assert 0 == it.acted("DeleteRequest")
    assert [] == it.checkers.violations


def test_a_request_of_an_earlier_template_is_taken_back() -> None:
    """The check names another kind in the middle: no second request is made, and the first one goes on recovery."""
    nurse, nurses = Kind("example.com", "Nurse"), Kind("example.com", "NurseTemplate")
    it = Story()
    it.fall_ill()
    for kind in (nurse, nurses):
        it.cluster.api.create(definition(kind))
    reference = {"apiVersion": "example.com/v1alpha1", "kind": "NurseTemplate", "name": TEMPLATE_NAME}
    body = {"spec": {"externalRemediationTemplate": reference}}
    it.cluster.api.patch(HEALTH_CHECK, CHECK_NAME, NAMESPACE, body, "merge")
    it.until(lambda: it.hospital.checkers.gone)
    it.run(2)

    assert [] == it.cluster.api.list(nurse)
    assert {nurse} == {one.kind for one in it.process.engine.wanted}
    assert [] == it.checkers.violations


def test_a_restart_forgets_a_kind_that_no_check_names() -> None:
    """As the guide says: the next manager knows nothing of the former kind, so its request stays for a person."""
    nurse, nurses = Kind("example.com", "Nurse"), Kind("example.com", "NurseTemplate")
    it = Story()
    it.fall_ill()
    for kind in (nurse, nurses):
        it.cluster.api.create(definition(kind))
    reference = {"apiVersion": "example.com/v1alpha1", "kind": "NurseTemplate", "name": TEMPLATE_NAME}
    body = {"spec": {"externalRemediationTemplate": reference}}
    it.process.kill()
    it.cluster.api.patch(HEALTH_CHECK, CHECK_NAME, NAMESPACE, body, "merge")
    it.process.start()
    it.run(40)

    assert it.server.is_heard, "the doctor had been asked, and came"
    assert it.request() is not None
    it.cluster.api.delete(DOCTOR, it.machine, NAMESPACE)
    it.run(5)
    assert (None, []) == (it.request(), it.cluster.api.list(nurse))


def delete_check(it: Story) -> None:
    it.cluster.api.delete(HEALTH_CHECK, CHECK_NAME, NAMESPACE)


def select_another(it: Story) -> None:
    body = {"spec": {"selector": {"matchLabels": {"ward": "of-another-hospital"}}}}
    it.cluster.api.patch(HEALTH_CHECK, CHECK_NAME, NAMESPACE, body, "merge")


def left_requests(it: Story) -> list[Notice]:
    return [notice for notice in it.process.notices if isinstance(notice.reason, RequestLeft)]


@pytest.mark.parametrize("lose_check", [delete_check, select_another])
def test_a_request_whose_check_is_gone_is_told(lose_check: Callable[[Story], None]) -> None:
    """Once, on its Machine, with what to do; it stays, also when the machine is well, until a person deletes it."""
    it = Story()
    it.fall_ill()
    it.run(1)
    lose_check(it)
    it.run(90)
    (told,) = left_requests(it)
    shown = [entry for entry in it.process.engine.decisions.items() if told.reason in entry[1].because]

    assert it.server.is_heard, "the doctor had been asked, and came"
    assert (it.machine, 0) == (told.ref.name, it.acted("DeleteRequest"))
    assert it.request() is not None
    assert f"kubectl delete doctor.example.com {it.machine} -n {NAMESPACE}" in told.reason.note()
    assert f"Doctor.example.com {NAMESPACE}/{it.machine} still asks for a repair" in told.reason.note()
    assert 1 == len(shown)

    it.cluster.api.delete(DOCTOR, it.machine, NAMESPACE)
    it.run(10)
    assert it.request() is None
    assert [] == [key for key, found in it.process.engine.decisions.items() if told.reason in found.because]
    assert 1 == len(left_requests(it))


def test_a_check_that_is_made_again_takes_its_request_back() -> None:
    """What the message says: the new check finds the machine well, and the request goes."""
    it = Story()
    it.fall_ill()
    tree = it.cluster.api.get(HEALTH_CHECK, CHECK_NAME, NAMESPACE)
    delete_check(it)
    it.run(60)
    before = it.request()
    it.cluster.api.create({**tree, "metadata": {"name": CHECK_NAME, "namespace": NAMESPACE}, "status": {}})
    it.run(20)

    assert before is not None
    assert (None, 1) == (it.request(), it.acted("DeleteRequest"))


def test_a_stranger_of_that_name_is_left_alone() -> None:
    """What somebody made by hand is neither used nor deleted."""
    it = Story()
    meta = {"name": it.machine, "namespace": NAMESPACE}
    it.server.is_broken = True
    it.cluster.api.create({"apiVersion": "example.com/v1alpha1", "kind": "Doctor", "metadata": meta})
    it.server.panic()
    it.run(20)

    assert 1 == it.told().count("RequestNotOurs")
    assert (0, 0) == (it.acted("CreateRequest"), it.acted("DeleteRequest"))


def test_the_checkers_see_what_they_are_there_for() -> None:
    """A request for a machine that is well, of nobody, and that nobody deletes: three complaints."""
    it = Story()
    it.run(30)
    meta = {"name": it.machine, "namespace": NAMESPACE, "finalizers": ["example.com/for-ever"]}
    it.cluster.api.create({"apiVersion": "example.com/v1alpha1", "kind": "Doctor", "metadata": meta})
    it.run(30)
    it.hospital.checkers.at_rest()

    assert ["E1", "E3", "E2"] == [violation.split(": ")[1] for violation in it.checkers.violations]


def test_the_checkers_see_a_request_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manager that takes nothing back is caught while it runs, not only in the end."""
    monkeypatch.setattr(lifecycle, "recover", lambda view: NOTHING)
    it = Story()
    it.fall_ill()
    it.run(60)

    assert {"E2"} == {violation.split(": ")[1] for violation in it.checkers.violations}


def test_seeds_with_a_ward() -> None:
    """Hours of troubles, two leaders among them: requests are made, and all of them go."""
    reports = [simulate(seed, nodes=6, hours=2, extras=PLAIN) for seed in (5, 7)]

    assert [] == [line for report in reports for line in report.violations]
    assert {"E1 only the sick", "E2 none left", "E2 requests go"} <= {name for one in reports for name in one.checks}
    assert {"CreateRequest", "DeleteRequest"} <= {name for one in reports for name in one.actions}


def test_half_of_the_seeds_have_a_ward() -> None:
    """Drawn from the seed alone."""
    stages = [(seed, Checkers(Cluster(nodes=4, replicas=0))) for seed in range(10)]
    found = [hospital_of(seed, checkers.cluster, checkers) is not None for seed, checkers in stages]

    assert {True, False} == set(found)
    assert hospital_of(1, Cluster(nodes=3, replicas=0), a_checkers()) is None


def a_checkers() -> Checkers:
    return Checkers(Cluster(nodes=1, replicas=0))
