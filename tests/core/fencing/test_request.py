"""FenceRemediation: what a health check asks for is made, told, called off, and handed to the owner if it fails."""

from __future__ import annotations

from typing import Any

from tests.builders import NODE_AT
from tests.core.fencing.fences import FENCE_AT, a_plan
from tests.core.fencing.story import Story, refuses

from noderemedy.model.ids import FENCE_REMEDIATION, MACHINE, NODE_FENCE, ref
from noderemedy.model.outcome import Key
from noderemedy.wire.objects import convert

REQUEST_AT = ref(FENCE_REMEDIATION, "worker-0", "metal")


def asked(**spec: Any) -> Story:
    """A machine with a silent node, and a request for it."""
    story = Story()
    story.machine()
    story.hang()
    story.run(65)
    request(story, **spec)
    return story


def request(story: Story, **spec: Any) -> None:
    story.api.create(
        {
            "apiVersion": "node-remedy.dev/v1alpha1",
            "kind": "FenceRemediation",
            "metadata": {"name": "worker-0", "namespace": "metal"},
            "spec": spec,
        }
    )


def told(story: Story) -> Any:
    return convert(FENCE_REMEDIATION, story.api.get(FENCE_REMEDIATION, "worker-0", "metal")).obj.status


def reasons(story: Story) -> list[str]:
    decision = story.engine.decisions[Key("fence-remediation", REQUEST_AT)]
    return [type(reason).__name__ for reason in decision.because]


def is_gone(story: Story) -> bool:
    return story.api.find(FENCE_REMEDIATION, "worker-0", "metal") is None


BOTH_WORDS = [("OwnerRemediated", "False"), ("HealthCheckSucceeded", "False")]


def owner_word(story: Story) -> list[tuple[str, str]]:
    status = story.api.get(MACHINE, "worker-0", "metal").get("status", {})
    return [(one["type"], one["status"]) for one in status.get("conditions", [])]


def test_a_request_has_the_node_fenced_at_once_and_tells_of_it() -> None:
    """No delay before power management: the health check has waited; at the end it is recovered."""
    story = asked()
    story.run_until(lambda: told(story).phase.value == "recovered", 300)

    assert ([], 2, "final") == (story.freed_early, story.boots, told(story).state)
    assert 1 == story.told.count("FenceAsked"), "how far it is stands in the status, and is no news"
    assert ("FenceRemediation/metal/worker-0", 0) == (
        story.fence.requested_by.split()[0],
        story.fence.spec.power_management_delay.ms,
    )


def test_a_request_that_is_withdrawn_before_anything_was_sent_is_called_off() -> None:
    """The machine is healthy again: the fence is released, then the request goes."""
    story = asked(powerManagementDelay="5m")
    story.run(20)
    assert ["WaitingForFence"] == reasons(story)
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(10)

    assert (True, None, []) == (is_gone(story), story.api.find(NODE_FENCE, FENCE_AT.name), story.orders)
    assert not story.node()["spec"].get("unschedulable", False)
    assert 1 == story.told.count("FenceCalledOff")


def test_a_request_that_is_withdrawn_later_ends_in_a_stated_power_state() -> None:
    """What was switched off comes on before the request goes."""
    story = asked()
    story.run_until(lambda: bool(story.orders), 60)
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(5)
    assert not is_gone(story)
    story.run(60)

    assert (True, {"fence_ipmilan": True}) == (is_gone(story), story.plugs)
    assert [] == story.freed_early


def test_a_fence_that_is_over_stays_when_its_request_goes() -> None:
    """It is there to be read, until its own time is over."""
    story = asked()
    story.run_until(lambda: told(story).phase.value == "recovered", 300)
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(5)

    assert (True, "final") == (is_gone(story), story.state)


def test_a_new_episode_replaces_a_fence_that_is_over() -> None:
    """The node falls sick again within the hour: a new fence, not the old one."""
    story = asked()
    story.run_until(lambda: told(story).phase.value == "recovered", 300)
    first = story.fence.uid
    story.api.delete(FENCE_REMEDIATION, "worker-0", "metal")
    story.run(5)
    story.hang()
    request(story, maxRestarts=1)
    story.run(20)

    assert first != story.fence.uid


def test_when_fencing_does_not_help_the_owner_is_asked() -> None:
    """OwnerRemediated=False on the Machine, as a Metal3Remediation does it."""
    story = asked(stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = refuses
    story.run(120)

    assert ("deleting-machine", BOTH_WORDS) == (told(story).phase.value, owner_word(story))
    story.run(1_800)
    assert "failed" == told(story).phase.value


def test_without_a_plan_the_owner_is_asked() -> None:
    """A fence that nobody configured waits nodeReadyTimeout for it, and then gives up: nothing was touched."""
    story = asked(nodeReadyTimeout="2m")
    story.configure(a_plan(problems=("fence-config-worker-0: no plug",)))
    story.run(110)
    early = (story.state, told(story).phase.value)
    story.run(20)

    assert ("new", "fencing") == early
    assert ("error", "deleting-machine") == (story.state, told(story).phase.value)
    is_cordoned = story.node()["spec"].get("unschedulable", False)
    assert (BOTH_WORDS, [], False) == (
        owner_word(story),
        story.orders,
        is_cordoned,
    )


def test_a_request_may_call_a_person_instead() -> None:
    """strategy: alert touches the Machine not at all."""
    story = asked(strategy="alert", stepRetries=0, maxRestarts=0)
    story.devices["fence_ipmilan"] = refuses
    story.run(120)

    assert ("failed", []) == (told(story).phase.value, owner_word(story))
    assert "RemediationFailed" in story.told


def test_somebody_elses_fence_is_awaited() -> None:
    """A node has one NodeFence: what a person made is neither taken over nor deleted."""
    story = Story()
    story.machine()
    story.hang()
    story.run(65)
    story.ask(powerManagementDelay="1m")
    story.run(5)
    request(story)
    story.run(20)

    assert ("fencing", "", "FenceTaken") == (told(story).phase.value, told(story).fence_uid, story.told[-1])
    assert "" == story.fence.requested_by


def test_a_fence_that_a_person_released_is_not_made_again() -> None:
    """Release means release: the request has failed."""
    story = asked(powerManagementDelay="5m")
    story.run(20)
    story.api.delete(NODE_FENCE, FENCE_AT.name)
    story.run(20)

    assert ("failed", None) == (told(story).phase.value, story.api.find(NODE_FENCE, FENCE_AT.name))


def test_a_request_for_a_machine_that_is_not_there_does_nothing() -> None:
    """It says so, and makes no fence."""
    story = Story()
    story.hang()
    story.run(65)
    request(story)
    story.run(5)

    assert (None, "RemediatedMachineMissing") == (story.api.find(NODE_FENCE, FENCE_AT.name), story.told[-1])


def test_a_machine_without_a_node_is_the_owners_business() -> None:
    """There is nothing to fence."""
    story = asked_without_node()
    story.run(5)

    assert ("deleting-machine", None) == (told(story).phase.value, story.api.find(NODE_FENCE, FENCE_AT.name))


def asked_without_node(story: Story | None = None) -> Story:
    story = story or Story()
    story.machine()
    story.api.patch(MACHINE, "worker-0", "metal", {"status": {"nodeRef": None}}, "merge", subresource="status")
    story.run(1)
    request(story)
    return story


def test_a_paused_machine_gets_no_fence() -> None:
    """Nothing new starts."""
    story = asked_paused()
    story.run(10)

    assert (None, "PausedByPerson") == (story.api.find(NODE_FENCE, FENCE_AT.name), story.told[-1])
    assert NODE_AT.name == story.node()["metadata"]["name"]


def asked_paused() -> Story:
    story = Story()
    story.machine()
    story.patch(ref(MACHINE, "worker-0", "metal"), {"metadata": {"annotations": {"node-remedy.dev/paused": "true"}}})
    story.hang()
    story.run(65)
    request(story)
    return story
