"""The jobs' tables."""

from gateway.core.jobs.models.job_run import JobRun, Outcome

__all__ = ["JobRun", "Outcome"]
