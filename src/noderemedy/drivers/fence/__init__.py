"""Fence agents as processes: where they are, how one runs, what it says of itself. Standard library only."""
