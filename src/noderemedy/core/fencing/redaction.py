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
    }
    return tuple(sorted((form for form in forms if len(form) >= SHORTEST), key=lambda form: (-len(form), form)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text without any of the secrets."""
    given = [secret for secret in secrets if secret]
    if text and any(len(secret) < SHORTEST for secret in given):
        return WITHHELD
    for form in sorted({form for secret in given for form in writings(secret)}, key=lambda form: (-len(form), form)):
        text = text.replace(form, HIDDEN)
    return text
