"""Ring 2b: the deterministic runtime. No I/O, no clock, no chance of its own."""
