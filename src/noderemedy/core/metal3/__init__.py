"""Bare-metal power cycling through Metal3's host objects (seeds 001, 003, 004)."""
