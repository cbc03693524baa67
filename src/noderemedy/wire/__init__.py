"""Ring 2c: bytes to model and back, pure."""
