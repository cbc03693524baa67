"""What Secrets give to a run, and what is said where they do not. Pure.

The manager, the runner in a Job and the simulator each read Secrets in their own way, and all ask here: what is said
of a run that lacks one is the same wherever it runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from noderemedy.model.agent import wants_file
from noderemedy.model.errors import Permanent
from noderemedy.model.ids import SYSTEM
from noderemedy.model.run import Order


class SecretMissing(Permanent):
    """A parameter has no usable value: names the parameter, the Secret and the key, never what is in it."""


def values_of(order: Order, read: Mapping[str, Mapping[str, str] | None]) -> dict[str, str]:
    """Values by parameter, of Secrets by name; None: there is no such Secret. Raises SecretMissing."""
    values: dict[str, str] = {}
    for one in order.secrets:
        texts = read[one.secret]
        if texts is None:
            why = f"there is no secret {one.secret} in {SYSTEM}, or it is empty; create it"
            raise SecretMissing(f"parameter {one.parameter}: {why}")
        if one.key not in texts and one.is_optional:
            continue
        values[one.parameter] = usable(one.parameter, one.secret, one.key, texts.get(one.key))
    return values


def usable(parameter: str, secret: str, key: str, value: str | None) -> str:
    """The value of a secret as an agent can take it, by itself or in a file. Raises SecretMissing."""
    where = f"parameter {parameter}: secret {secret}"
    if value is None:
        raise SecretMissing(f"{where} has no key {key}, or it is no text; add it")
    if wants_file(parameter) and value.strip():
        return value if value.endswith("\n") else f"{value}\n"  # ssh reads no key whose last line does not end
    value = value.rstrip("\r\n")  # files end in a line feed, passwords do not
    if not value:
        raise SecretMissing(f"{where}, key {key} is empty; fill it")
    if "\n" in value or "\r" in value or "\0" in value:
        raise SecretMissing(f"{where}, key {key} has more than one line, which no agent can be told; make it one line")
    return value
