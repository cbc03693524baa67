"""Text to JSON trees: what kubectl would read is read alike, everything else is refused at its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noderemedy.manager import trees
from noderemedy.manager.trees import BadInput, read


def one(text: str) -> object:
    [tree] = read(text.encode(), "file.yaml")
    return tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2030-01-31T12:00:00Z", "2030-01-31T12:00:00Z"),
        ("2030-01-31", "2030-01-31"),
        ("1:30", "1:30"),
        ("12:30:45.5", "12:30:45.5"),
        ("yes", True),
        ("Off", False),
        ('"yes"', "yes"),
        ("12", 12),
        ("-0x1f", -31),
        ("010", 8),
        ("0o17", 15),
        ("1_000", 1000),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".inf", ".inf"),
        ("~", None),
        ("=", "="),
        ("v1", "v1"),
        ("08", "08"),
        ("!!str 12", "12"),
    ],
)
def test_plain_words_mean_what_they_mean_to_kubernetes(text: str, expected: object) -> None:
    """Times and 1:30 stay text, YAML 1.1 booleans are booleans, numbers are numbers."""
    found = one(f"a: {text}")

    assert {"a": expected} == found
    assert type(expected) is type(found["a"])


def test_keys_are_text() -> None:
    """A key that YAML takes for a boolean or a number is text in JSON."""
    assert {"true": 1, "7": 2, "null": 3} == one("on: 1\n7: 2\n~: 3")


def test_aliases_and_merges_unfold() -> None:
    """Anchors, aliases and << give what they stand for; the mapping's own keys win."""
    text = "base: &b {a: 1, b: 2}\nmade: {<<: *b, b: 3}\nmore: {<<: [*b, {c: 9, a: 8}]}"

    assert {"a": 1, "b": 3} == one(text)["made"]  # type: ignore[index]
    assert {"a": 1, "b": 2, "c": 9} == one(text)["more"]  # type: ignore[index]


REFUSED = [
    ("a: 1\nb: 2\na: 3\n", ":3:1: key 'a' is given twice"),
    ('{"a": 1,\n "a": 2}', "key 'a' is given twice"),
    ("a: [1, 2\nb: 3\n", ":2:2: not YAML"),
    ("a:\n\t- b\n", ":2:1: not YAML"),
    ("a: &x [*x]\n", ":1:4: this anchor contains itself"),
    ("a: !!set {b}\n", "tag !!set has no meaning in JSON"),
    ("a: !!python/object:os.system {}\n", "has no meaning in JSON"),
    ("a: !!binary aGVsbG8=\n", "tag !!binary has no meaning in JSON"),
    ("[a, b]: 1\n", "a key must be text"),
    ("a: !!int x\n", "'x' is not a !!int"),
    ("a: \x07\n", ":1:4: not YAML"),
    ("<<: 3\n", "<< takes a mapping"),
    ('{"a": 1,\n "b": [{"c": "\\ud800"}]}', ":2: b[0].c: holds half a character (\\ud800)"),
    ('{"a": {"x\\uDFFFy": 1}}', ":1: a.x\\udfffy: holds half a character (\\udfff)"),
    ('"\\uD800"', ""),
    ("[" * 100_000, ""),
]


@pytest.mark.parametrize(("text", "problem"), REFUSED)
def test_refusals_name_the_place_and_the_remedy(text: str, problem: str) -> None:
    """What cannot be read is refused with file, line, column and what to do."""
    with pytest.raises(BadInput) as refused:
        read(text.encode(), "some/file.yaml")

    message = str(refused.value)
    assert message.startswith("some/file.yaml:")
    assert problem in message
    assert trees.REMEDY in message


@pytest.mark.parametrize("text", ['{"a": "\\ud83d\\ude00"}', '{"a": "\\\\ud800"}', "a: '\\ud800'"])
def test_what_only_looks_like_half_a_character_is_read(text: str) -> None:
    """Both halves are one character, and behind two backslashes there is none."""
    assert ["a"] == list(one(text))  # type: ignore[call-overload]


def test_json_is_refused_with_line_and_column() -> None:
    """Broken JSON in a .json file is reported as JSON."""
    with pytest.raises(BadInput, match=r"^dump\.json:2:8: not JSON"):
        read(b'{\n  "a": }', "dump.json")


def test_aliases_cannot_unfold_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few lines of aliases that stand for billions of values are refused, not unfolded."""
    monkeypatch.setattr(trees, "VALUES_MAX", 100_000)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(BadInput, match="aliases unfold"):
        read("\n".join(lines).encode(), "bomb.yaml")


def test_several_documents_and_empty_ones() -> None:
    """Documents come in order, empty ones do not count; JSON documents may follow one another."""
    assert [{"a": 1}, {"b": 2}] == read(b"---\na: 1\n---\n---\nb: 2\n...\n", "f.yaml")
    assert [{"a": 1}, {"b": 2}] == read(b'{"a": 1}\n{"b": 2}\n', "f.json")
    assert [] == read(b"# nothing\n", "f.yaml")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_redirected_output(encoding: str) -> None:
    """A dump that a shell wrote as UTF-8 or UTF-16 with a mark is read."""
    assert [{"a": "ü"}] == read("a: ü\n".encode(encoding), "f.yaml")


def test_bytes_that_are_no_text_are_refused() -> None:
    """Binary garbage is refused with its line."""
    with pytest.raises(BadInput, match=r"f\.yaml:2: not UTF-8"):
        read(b"a: 1\nb: \xff\xfe\xfd\n", "f.yaml")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), JSON))
def test_json_comes_through_unchanged(tree: dict[str, object]) -> None:
    """Every JSON object is read as what it is, from a file of any name."""
    text = json.dumps(tree).encode()

    assert [tree] == read(text, "f.json")
    assert [tree] == read(text, "f.yaml")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text whatever ends in anything but trees or one clear refusal."""
    try:
        read(text.encode("utf-8", "surrogatepass"), "f.yaml")
    except BadInput as refused:
        if not str(refused).startswith("f.yaml"):
            raise
