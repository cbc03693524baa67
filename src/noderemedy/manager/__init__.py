"""Ring 5: the manager, the program that repairs nodes, and `plan`, which only says what it would do."""
