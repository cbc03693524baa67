"""MachineHealthCheck (seeds 003, 004): verdicts on machines, the gate, and what is asked for the sick ones."""
