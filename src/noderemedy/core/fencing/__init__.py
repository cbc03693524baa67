"""Fencing (seed 002): plans, runs of fence agents, and the life of a NodeFence."""
