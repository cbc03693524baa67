"""Ring 6: a whole cluster on one machine."""
