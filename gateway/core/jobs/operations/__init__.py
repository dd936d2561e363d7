"""Records the runs of jobs."""
