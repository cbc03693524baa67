"""Errors, with the blame in the type.

    NodeRemedyError
    ├── Bug              ours: an assertion of the design failed; the key is quarantined and traced
    └── Theirs           the API, a BMC, a peer, a person's file
        ├── Temporary    may go away by itself
        └── Permanent    stays until somebody changes something; says what

"No answer" is not an error: it is the outcome UNKNOWN. A refusal is not an error either: it is a reason.
"""

from __future__ import annotations


class NodeRemedyError(Exception):
    """Anything that node-remedy itself raises."""


class Bug(NodeRemedyError):
    """A rule of the design was broken by our own code."""


class Theirs(NodeRemedyError):
    """Somebody else's fault: the message names the object, the field and the remedy."""


class Temporary(Theirs):
    """May go away by itself: worth another try."""


class Permanent(Theirs):
    """Stays until somebody changes something."""
