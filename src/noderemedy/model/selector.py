"""A label selector of Kubernetes, for whatever carries labels."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Operator(Enum):
    """How a label is compared with the values of an expression."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class Expression(Struct, frozen=True):
    """One of `matchExpressions`."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


class Selector(Struct, frozen=True):
    """Labels that an object must carry, all of them."""

    match_labels: tuple[tuple[str, str], ...] = ()
    match_expressions: tuple[Expression, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_labels and not self.match_expressions
