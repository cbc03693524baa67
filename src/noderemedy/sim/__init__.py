"""Ring 5: a seeded world in virtual time. Touches no real device."""
