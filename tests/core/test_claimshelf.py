"""A claim goes with its target, and with nothing less: never while anybody needs it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import MACHINE_AT, NODE_AT, NOW, a_machine

from noderemedy.core import claimshelf
from noderemedy.core.claim import holder_name, lease_of, target_of
from noderemedy.engine.loop import Engine
from noderemedy.model.actions import DropClaim, Guard
from noderemedy.model.budget import need
from noderemedy.model.ids import LEASE, MACHINE, NODE, OPENSHIFT_MACHINE, SYSTEM, Kind, Ref, ref
from noderemedy.model.lease import Lease
from noderemedy.model.outcome import Seen
from noderemedy.model.reasons import ClaimNeedless

AT = lease_of(NODE_AT)
HOLDER = holder_name("owner", MACHINE_AT)
words = st.text("abz019-.", min_size=1, max_size=9)
kinds = st.builds(Kind, st.sampled_from(("", "cluster.x-k8s.io")), st.sampled_from(("Machine", "Node")))
refs = st.builds(Ref, st.sampled_from(("", "metal/other")), kinds, st.just("") | words, words)


def an_engine(holder: str = HOLDER, at: Ref = AT) -> Engine:
    """An engine that knows one Lease, and that there is no Machine."""
    engine = Engine((claimshelf.ROOM,))
    for kind in (LEASE, MACHINE, OPENSHIFT_MACHINE):
        engine.listing(kind, NOW)
    engine.seen(Seen(at, "lease-uid", "9", Lease("lease-uid", holder)), NOW)
    for kind in (LEASE, MACHINE, OPENSHIFT_MACHINE):
        engine.listed(kind, NOW)
    return engine


def drops(engine: Engine) -> list[DropClaim]:
    found = [effect.action for effect in engine.step(NOW, 1).effects]
    return [action for action in found if isinstance(action, DropClaim)]


def test_it_goes_when_its_machine_is_gone() -> None:
    """Kept while the Machine is there; then deleted, as the very version that was seen."""
    engine = an_engine()
    machine = Seen(MACHINE_AT, "machine-uid-1", "5", a_machine())
    engine.seen(machine, NOW)
    assert [] == drops(engine)
    engine.gone(machine, NOW)

    assert [DropClaim(AT, Guard("lease-uid", "9"))] == drops(engine)
    assert [(ClaimNeedless(str(MACHINE_AT)),)] == [one.because for one in engine.decisions.values()]


@pytest.mark.parametrize("node", [None, ref(NODE, "worker-9")])
def test_it_goes_with_the_last_need_of_its_holder(node: Ref | None) -> None:
    """Its target may have another node by then, or none."""
    engine = an_engine()
    fact = need(MACHINE_AT, "owner", NOW.wall, is_running=True, node=node)
    engine.seen(Seen(fact.ref, "", "", fact.value), NOW)
    assert [] == drops(engine)
    engine.gone(Seen(fact.ref, "", "", fact.value), NOW)

    assert [DropClaim(AT, Guard("lease-uid", "9"))] == drops(engine)


@pytest.mark.parametrize("room", ["owner", "annotation"])
def test_it_stays_while_somebody_needs_it(room: str) -> None:
    """Whoever states a need for the node, its holder or another room, may be about to use it; then it goes."""
    engine = an_engine()
    fact = need(MACHINE_AT, room, NOW.wall, is_running=True, node=NODE_AT)
    engine.seen(Seen(fact.ref, "", "", fact.value), NOW)
    assert [] == drops(engine)
    engine.gone(Seen(fact.ref, "", "", fact.value), NOW)

    assert [DropClaim(AT, Guard("lease-uid", "9"))] == drops(engine)


@pytest.mark.parametrize(
    ("holder", "at"),
    [
        (HOLDER, ref(LEASE, "node-remedy-manager", SYSTEM)),
        ("somebody-with-a-name", AT),
        ("", AT),
        (holder_name("fence", ref(NODE, "worker-0")), AT),
    ],
)
def test_what_is_not_a_claim_of_a_machine_is_left_alone(holder: str, at: Ref) -> None:
    """The Lease of the leader, names that we did not write, and claims of what is no Machine."""
    assert [] == drops(an_engine(holder, at))


@settings(max_examples=60)
@given(refs)
def test_a_holder_names_its_target(target: Ref) -> None:
    """What is written into a claim can be read back, of whatever kind and cluster."""
    assert target == target_of(holder_name("some-room", target))
