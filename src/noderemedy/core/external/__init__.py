"""External remediation (seeds 003, 004): requests made from templates of any kind, and deleted on recovery."""
