"""Chunks into lines, for every way of cutting a stream."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noderemedy.drivers.kube.lines import Lines, is_whole

TEXT = st.lists(st.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b"")), max_size=8)


@given(parts=TEXT, cuts=st.lists(st.integers(0, 80), max_size=10))
def test_where_a_stream_is_cut_does_not_matter(parts: list[bytes], cuts: list[int]) -> None:
    """Lines and rest are those of the whole stream, whatever its chunks."""
    stream = b"\n".join(parts)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    lines = Lines(1000)

    whole = [line for begin, end in pairwise(places) for line in lines.feed(stream[begin:end])]

    assert stream.split(b"\n") == [*whole, lines.rest()]


def test_a_line_without_end_is_refused_in_time() -> None:
    """Memory is bounded even if no line end ever comes."""
    lines = Lines(10)
    assert [] == lines.feed(b"12345")

    with pytest.raises(ValueError, match="longer than 10 bytes"):
        lines.feed(b"678901")


@pytest.mark.parametrize(
    ("rest", "expected"), [(b"", False), (b'{"a":1}', True), (b'{"a":', False), (b'{"a":{}', False), (b"\xff", False)]
)
def test_half_a_document_is_not_whole(rest: bytes, expected: bool) -> None:
    """Only a complete JSON document counts without its line end."""
    assert expected == is_whole(rest)
