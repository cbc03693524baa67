"""Node remedy (seed 002): Configuration documents, their thresholds, and the chain of remedies that follows."""
