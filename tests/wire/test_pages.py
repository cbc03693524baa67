"""Pages of lists: one pass gives what object by object gives, or leaves the page to a closer look."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.builders import a_node_tree
from tests.wire.test_objects import TREES, met, unstamped

from noderemedy.model.ids import NODE, Kind
from noderemedy.model.room import Present
from noderemedy.model.time import Mono
from noderemedy.wire.objects import convert
from noderemedy.wire.pages import HEAD, ListMeta, decode_head, decode_page
from noderemedy.wire.scalars import UNREADABLE


def a_page(*items: Any, **metadata: str) -> bytes:
    """With its maps in the order in which API servers send them."""
    return msgspec.json.encode({"metadata": metadata, "items": items}, order="sorted")


@pytest.mark.parametrize("kind", TREES, ids=str)
def test_a_page_is_read_in_one_pass(kind: Kind) -> None:
    """Its objects are what each of them is by itself."""
    page = decode_page(kind, a_page(TREES[kind], TREES[kind], resourceVersion="7", **{"continue": "more"}), "a/b")

    assert page is not None
    assert [convert(kind, TREES[kind], "a/b")] * 2 == [unstamped(one) for one in page]


@pytest.mark.parametrize("body", [b'{"metadata":{"resourceVersion":"7"},"items":null}', a_page(resourceVersion="7")])
def test_an_empty_page_is_one(body: bytes) -> None:
    """API servers say null where there is nothing."""
    assert (ListMeta("7"), []) == (decode_head(body), decode_page(NODE, body))


META = b'"metadata":{"resourceVersion":"7","continue":"more"}'
HEADS = {
    "as API servers write it": b'{"kind":"NodeList",' + META + b',"items":[{}]}',
    "after its items": b'{"items":[{"a":[1]}],' + META + b"}",
    "behind a long field": b'{"x":"' + b"-" * HEAD + b'",' + META + b',"items":[]}',
    "behind other items": b'{"x":{"items":[1]},' + META + b',"items":[{}]}',
    "before no items": b"{" + META + b',"items":null}',
    "after no items": b'{"items":null,' + META + b"}",
}


@pytest.mark.parametrize("body", HEADS.values(), ids=HEADS.keys())
def test_the_head_says_where_a_list_goes_on(body: bytes) -> None:
    """Wherever it stands."""
    assert ListMeta("7", "more") == decode_head(body)


def test_the_head_is_read_without_the_objects() -> None:
    """The next page is asked for before anything of this one is looked at: it may even be broken there."""
    assert ListMeta("7", "more") == decode_head(b"{" + META + b',"items":[{')


NO_PAGES = {
    "nothing": b"",
    "no text": b"\xff",
    "a list of JSON": b"[]",
    "without metadata": b'{"items":[]}',
    "with other metadata": b'{"metadata":5,"items":[]}',
    "too deep": b"[" * 20_000,
    "without items": b"{" + META + b"}",
    "without a version": b'{"metadata":{},"items":[]}',
    "with an empty version": b'{"items":[],"metadata":{"resourceVersion":""}}',
    "a Status": b'{"kind":"Status","metadata":{},"status":"Failure","message":"etcd is not ready","code":500}',
    "a Status with all that a list has": b'{"kind":"Status",' + META + b',"items":[]}',
    "a Table": b'{"kind":"Table",' + META + b',"rows":[1]}',
}


@pytest.mark.parametrize("body", NO_PAGES.values(), ids=NO_PAGES.keys())
def test_what_is_no_page_has_no_head(body: bytes) -> None:
    """The driver tells which list it was."""
    with pytest.raises(UNREADABLE):
        decode_head(body)


def test_what_is_known_is_not_made_again() -> None:
    """In a list that is made anew most objects are what they were."""
    known = Present(convert(NODE, a_node_tree(version="2")).obj, "2", Mono(0))
    page = decode_page(NODE, a_page(a_node_tree(version="2")), known=lambda at: known)

    assert page is not None
    assert [("2", True)] == [(one.resource_version, one.obj is known.obj) for one in page]


def test_the_first_heartbeat_after_a_list_is_known_by_its_stamp() -> None:
    """Each Node of a page has its own, the one that a watch would give it; no Node is read again before it changes."""
    names = ("one", "two")
    page = decode_page(NODE, a_page(*(a_node_tree(name=name, version="1") for name in names)))
    assert page is not None
    later: dict[str, Any] = {"version": "2", "heartbeat": "2030-03-17T17:46:40Z"}

    for name, known in zip(names, page, strict=True):
        assert met(a_node_tree(name=name, **later), known).obj is known.obj
        assert met(a_node_tree(name=name, labels={"rack": "r1"}, **later), known).obj is not known.obj


BAD_CONDITIONS = {"metadata": {"name": "a"}, "status": {"conditions": [{"type": 5}]}}


@pytest.mark.parametrize("kind", [kind for kind in TREES if kind.kind in ("Node", "Machine", "Cluster")], ids=str)
def test_an_object_that_cannot_be_read_leaves_the_page_to_a_closer_look(kind: Kind) -> None:
    """Also one whose mistake shows only when the object is made."""
    assert None is decode_page(kind, a_page(TREES[kind], BAD_CONDITIONS))


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"metadata":{}}', b'{"metadata":{},"items":' + b"[" * 20_000])
def test_what_is_no_page_is_left_to_a_closer_look(body: bytes) -> None:
    """It is told with its kind and remedy there."""
    assert None is decode_page(NODE, body)
