"""The reference owner: replaces sick Machines that have no controller and name us as owner (seed 003)."""
