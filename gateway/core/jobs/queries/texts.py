"""The names of jobs, and what they do, in the settings."""

from django.conf import settings


def name_of(job: str) -> str:
    """Return a job's name; its task's path for one that is no longer scheduled."""
    return settings.JOB_TEXTS.get(job, (job, ""))[0]


def description_of(job: str) -> str:
    """Return a sentence about what a job does; empty for one that is no longer scheduled."""
    return settings.JOB_TEXTS.get(job, (job, ""))[1]


def named(text: str) -> list[str]:
    """List the tasks of the jobs whose name contains a text."""
    wanted = text.strip().casefold()
    return [job for job, (name, _) in settings.JOB_TEXTS.items() if wanted in name.casefold()]
