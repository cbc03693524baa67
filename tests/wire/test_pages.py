"""Pages of lists: one pass gives what object by object gives, or leaves the page to a closer look."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.builders import a_node_tree
from tests.wire.test_objects import TREES, met, unstamped

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.outcome import Seen
from noderemedy.model.room import Present
from noderemedy.model.time import Mono
from noderemedy.wire.objects import convert
from noderemedy.wire.pages import ListMeta, Page, decode_page


def a_page(*items: Any, **metadata: str) -> bytes:
    """With its maps in the order in which API servers send them."""
    return msgspec.json.encode({"metadata": metadata, "items": items}, order="sorted")


def seen(page: Page) -> list[Seen]:
    return [one for one in page.items if isinstance(one, Seen)]


@pytest.mark.parametrize("kind", TREES, ids=str)
def test_a_page_is_read_in_one_pass(kind: Kind) -> None:
    """Its objects are what each of them is by itself, and where the list goes on is told."""
    page = decode_page(kind, a_page(TREES[kind], TREES[kind], resourceVersion="7", **{"continue": "more"}), "a/b")

    assert page is not None
    assert ListMeta("7", "more") == page.metadata
    assert [convert(kind, TREES[kind], "a/b")] * 2 == [unstamped(one) for one in seen(page)]


@pytest.mark.parametrize("body", [b'{"metadata":{"resourceVersion":"7"},"items":null}', a_page(resourceVersion="7")])
def test_an_empty_page_is_one(body: bytes) -> None:
    """API servers say null where there is nothing."""
    page = decode_page(NODE, body)

    assert page is not None
    assert (len(body), ListMeta("7"), []) == (page.size, page.metadata, list(page.items))


def test_what_is_known_is_not_made_again() -> None:
    """In a list that is made anew most objects are what they were."""
    known = Present(convert(NODE, a_node_tree(version="2")).obj, "2", Mono(0))
    page = decode_page(NODE, a_page(a_node_tree(version="2")), known=lambda at: known)

    assert page is not None
    assert [("2", True)] == [(one.resource_version, one.obj is known.obj) for one in seen(page)]


def test_the_first_heartbeat_after_a_list_is_known_by_its_stamp() -> None:
    """Each Node of a page has its own, the one that a watch would give it; no Node is read again before it changes."""
    names = ("one", "two")
    page = decode_page(NODE, a_page(*(a_node_tree(name=name, version="1") for name in names)))
    assert page is not None
    later: dict[str, Any] = {"version": "2", "heartbeat": "2030-03-17T17:46:40Z"}

    for name, known in zip(names, seen(page), strict=True):
        assert met(a_node_tree(name=name, **later), known).obj is known.obj
        assert met(a_node_tree(name=name, labels={"rack": "r1"}, **later), known).obj is not known.obj


BAD_CONDITIONS = {"metadata": {"name": "a"}, "status": {"conditions": [{"type": 5}]}}


@pytest.mark.parametrize("kind", [kind for kind in TREES if kind.kind in ("Node", "Machine", "Cluster")], ids=str)
def test_an_object_that_cannot_be_read_leaves_the_page_to_a_closer_look(kind: Kind) -> None:
    """Also one whose mistake shows only when the object is made."""
    assert None is decode_page(kind, a_page(TREES[kind], BAD_CONDITIONS))


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"items":[]}', b'{"metadata":{},"items":' + b"[" * 20_000])
def test_what_is_no_page_is_left_to_a_closer_look(body: bytes) -> None:
    """It is told with its kind and remedy there."""
    assert None is decode_page(NODE, body)
