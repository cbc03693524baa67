"""The ten rules of watching, each against a server that breaks exactly that one."""

from __future__ import annotations

from tests.drivers.kube.scripted import a_list, a_node, event, run, stream, watching


def test_list_then_events() -> None:
    """What is listed is seen, then what the stream says, from the list's version on."""

    async def test() -> None:
        events = event("ADDED", a_node("b", 11)) + event("DELETED", a_node("a", 12))
        async with watching(a_list(10, a_node("a", 5)), stream(events)) as (api, sink):
            await sink.until("gone", "a")
            assert [
                ("listing",),
                ("seen", "a", "5"),
                ("listed",),
                ("seen", "b", "11"),
                ("gone", "a"),
            ] == sink.log
            assert "10" == api.watches()[0].query["resourceVersion"]
            assert "true" == api.watches()[0].query["allowWatchBookmarks"]

    run(test())
