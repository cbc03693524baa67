"""Takes secrets out of what an agent printed, before anybody else sees a letter of it.

Used where runs are carried out. An agent that is told to be verbose prints its parameters, some in other writings
than ours: percent-encoded in a URL, base64 in a header, escaped in JSON or in a shell.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "…"
SHORTEST = 3  # a secret of one or two letters cannot be found in a text: then nothing of the text is shown
WITHHELD = "(what it printed is not shown: a secret is too short to be found in it)"
_BLANKS = re.compile(r"\s+")


def writings(secret: str) -> tuple[str, ...]:
    """A secret in all forms in which agents have been seen to print one, longest first."""
    plain = secret.encode("utf-8", "replace")
    forms = {
        secret,
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret),
        base64.b64encode(plain).decode(),
        base64.urlsafe_b64encode(plain).decode(),
        plain.hex(),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        shlex.quote(secret),
        _BLANKS.sub(" ", secret).strip(),
        *(within_base64(plain, before) for before in range(3)),
    }
    return tuple(sorted((form for form in forms if len(form) >= SHORTEST), key=lambda form: (-len(form), form)))


def within_base64(plain: bytes, before: int) -> str:
    """What of a secret shows in base64 of something longer, as of `user:password`, with so many bytes before it."""
    whole = base64.b64encode(bytes(before) + plain).decode()
    return whole[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6]


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text without any of the secrets."""
    given = [secret for secret in secrets if secret]
    if text and any(len(secret) < SHORTEST for secret in given):
        return WITHHELD
    for form in sorted({form for secret in given for form in writings(secret)}, key=lambda form: (-len(form), form)):
        text = text.replace(form, HIDDEN)
    return text
