"""One complete list of a live cluster, for a command that looks once. Called by `history`, `import` and `attest`."""

from __future__ import annotations

from collections.abc import Callable

from noderemedy.drivers.kube.client import KubeClient
from noderemedy.drivers.kube.discovery import NotServed, Wanted, serving
from noderemedy.drivers.kube.errors import NoAnswer, NotSent, Obstacle, Refused
from noderemedy.drivers.kube.listing import Lister
from noderemedy.drivers.kube.refusals import describe
from noderemedy.drivers.kube.sink import DEFAULT, Decode, OneList
from noderemedy.manager.liveplan import Unreachable
from noderemedy.model.ids import Kind
from noderemedy.model.outcome import Seen
from noderemedy.wire.http import Resource
from noderemedy.wire.objects import Undecodable


class Shelf(OneList):
    """What was listed, and what of it cannot be read. A `Sink` for any number of lists."""

    def __init__(self) -> None:
        self.items: list[Seen] = []
        self.remarks: list[str] = []

    def seen(self, item: Seen) -> None:
        self.items.append(item)

    def unreadable(self, kind: Kind, problem: Undecodable) -> None:
        self.remarks.append(str(problem))


async def pour(
    client: KubeClient, wanted: Wanted, decode: Callable[[Resource], Decode], shelf: Shelf, namespace: str = ""
) -> bool:
    """Whether this kind is served; all of it is on the shelf then. Raises Unreachable."""
    try:
        match await serving(client, wanted):
            case Obstacle(why):
                raise Unreachable(why)
            case NotServed():
                return False
            case resource:
                await Lister(client, decode(resource), shelf, namespace, DEFAULT).pour(resource)
                return True
    except Refused as refused:
        raise Unreachable(describe(refused.answer, wanted.guess(), namespace)) from None
    except (NotSent, NoAnswer) as problem:
        raise Unreachable(str(problem)) from None
