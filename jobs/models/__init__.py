"""The jobs' tables."""

from jobs.models.job_run import JobRun, Outcome

__all__ = ["JobRun", "Outcome"]
