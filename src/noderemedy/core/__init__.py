"""Ring 2a: the rooms. Pure: `decide(view, now) -> Decision`."""
