"""Secrets never leave: neither as they are, nor in another writing."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noderemedy.core.fencing.redaction import HIDDEN, WITHHELD, redact, writings

SECRET = 'hunter2 & "co"/ü'
WRITTEN = {
    "as it is": SECRET,
    "in a URL": quote(SECRET, safe=""),
    "in a path": quote(SECRET),
    "in base64": base64.b64encode(SECRET.encode()).decode(),
    "in hex": SECRET.encode().hex(),
    "in JSON": json.dumps(SECRET)[1:-1],
    "by Python": repr(SECRET)[1:-1],
}


@pytest.mark.parametrize("how", WRITTEN)
def test_a_secret_is_hidden_however_it_is_written(how: str) -> None:
    """Verbose agents print what they send, encoded as it is sent."""
    assert f"login with {HIDDEN} failed" == redact(f"login with {WRITTEN[how]} failed", [SECRET])


def test_the_longer_of_two_secrets_is_hidden_first() -> None:
    """A secret that begins like another one leaves no rest."""
    assert f"{HIDDEN} {HIDDEN}" == redact("hunter22 hunter2", ["hunter2", "hunter22"])


def test_nothing_is_shown_where_a_secret_cannot_be_found() -> None:
    """A secret of two letters is in every text: what was printed is not shown at all."""
    assert WITHHELD == redact("login failed", ["in"])


def test_a_text_without_secrets_stays_as_it_is() -> None:
    """Empty values hide nothing."""
    assert "Powered OFF" == redact("Powered OFF", ["", "hunter2"])


@pytest.mark.parametrize("user", ["", "a", "me", "root", "admin"])
def test_a_login_in_base64_shows_no_letter_of_the_password(user: str) -> None:
    """HTTP sends user and password as one word, in which the password begins in the middle of a letter."""
    login = base64.b64encode(f"{user}:{SECRET}".encode()).decode()
    left = redact(f"Basic {login}", [SECRET]).removeprefix("Basic ")

    assert HIDDEN in left
    assert len(left) <= len(base64.b64encode(f"{user}:".encode())) + 4


@given(st.text(max_size=40), st.text(min_size=1, max_size=20), st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_no_writing_of_a_secret_is_left(before: str, secret: str, after: str) -> None:
    """Wherever a secret stands in a text, none of its writings is left in what is shown."""
    assume(HIDDEN not in secret and not any(form in WITHHELD for form in writings(secret)))
    shown = redact(before + secret + after, [secret])

    assert [] == [form for form in writings(secret) if form in shown]
