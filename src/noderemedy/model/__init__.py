"""Ring 1: frozen types, arithmetic only."""
