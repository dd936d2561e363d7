"""Records the runs of scheduled jobs for operators."""
