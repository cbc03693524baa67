"""What can go wrong before an API server answers.

An answer with an error status is an `Answer`, never an exception: only the caller knows what a 404 means.
The two exceptions of a request differ in the one thing that matters to whoever asked for an effect: whether
it may have happened.
"""

from __future__ import annotations

from msgspec import Struct

from noderemedy.model.errors import Permanent, Temporary
from noderemedy.wire.http import Answer


class BadConfig(Permanent):
    """A kubeconfig or a mounted service account cannot be used: names the file, the entry and the remedy."""


class BadCredentials(Temporary):
    """Credentials could not be obtained just now (plugin failed, file unreadable)."""


class NotSent(Temporary):
    """The request surely was not applied: it never left, or was refused before it was looked at."""


class NoAnswer(Temporary):
    """Nobody knows whether the request was applied: look before doing anything else."""


class NoCredentials(NotSent):
    """Nothing was sent, for we have nothing to show: says where the credentials should have come from."""


class Garbled(NoAnswer):
    """There was an answer, and it is not what was asked for."""


class Refused(Temporary):
    """A stream was answered with an error status instead of lines."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"the API server answered {answer.status}")
        self.answer = answer


class Silent(Temporary):
    """A stream gave no byte for too long: behind a load balancer it may be dead without a word."""


class Obstacle(Struct, frozen=True):
    """What keeps us from seeing or doing something, for people, with the remedy. Told, never raised."""

    why: str
    is_connection: bool = False  # the server is away: nobody refused anything, and it may be back at any moment


def obstacle_of(problem: NotSent | NoAnswer) -> Obstacle:
    """Silence as an obstacle: the connection is at fault, unless we had nothing to show or cannot read the answer."""
    return Obstacle(str(problem), is_connection=not isinstance(problem, NoCredentials | Garbled))
