"""Reads the state of each scheduled job."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from gateway.core.jobs.models import JobRun
from gateway.core.jobs.rules.statuses import ALARMING, Status, is_overdue, status_of

# The newest run of each job, the newest that ended, and the oldest of all, in one statement, because every page of the
# console needs them.
NEWEST_AND_OLDEST = """
SELECT run.* FROM unnest(%s::text[]) AS name, LATERAL (
    (SELECT * FROM jobs_run WHERE job = name ORDER BY id DESC LIMIT 1)
    UNION ALL
    (SELECT * FROM jobs_run WHERE job = name AND ended_at IS NOT NULL ORDER BY id DESC LIMIT 1)
) AS run
UNION ALL
(SELECT * FROM jobs_run ORDER BY started_at LIMIT 1)
"""

NEWEST_SUCCESSES = """
SELECT run.* FROM unnest(%s::text[]) AS name, LATERAL (
    SELECT * FROM jobs_run WHERE job = name AND outcome = 'done' ORDER BY id DESC LIMIT 1
) AS run
"""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job's state at an instant, and its newest run, None if it has not run."""

    job: str
    interval: timedelta
    newest: JobRun | None
    status: Status

    @property
    def is_alarming(self) -> bool:
        """Return whether an operator should check it."""
        return self.status in ALARMING


def of_all(*, now: datetime) -> list[JobStatus]:
    """Return the state of every scheduled job, ordered by name."""
    intervals = {name: timedelta(seconds=entry["schedule"]) for name, entry in settings.CELERY_BEAT_SCHEDULE.items()}
    runs = sorted(JobRun.objects.raw(NEWEST_AND_OLDEST, [sorted(intervals)]), key=lambda run: run.pk)
    newest = {run.job: run for run in runs}
    ended = {run.job: run.ended_at for run in runs if run.ended_at is not None}
    recorded_since = min((run.started_at for run in runs), default=None)
    return [
        _judge(name, intervals[name], newest.get(name), ended.get(name, recorded_since), now)
        for name in sorted(intervals)
    ]


def last_successes() -> list[JobRun]:
    """Return the newest run that succeeded of each scheduled job that has one."""
    return list(JobRun.objects.raw(NEWEST_SUCCESSES, [sorted(settings.CELERY_BEAT_SCHEDULE)]))


def _judge(
    name: str, interval: timedelta, newest: JobRun | None, ended_at: datetime | None, now: datetime
) -> JobStatus:
    """Return the state of a job. `ended_at` is the end of its last finished run, else the time of the first record."""
    if newest is None:
        late = is_overdue(ended_at, interval, now)
        return JobStatus(name, interval, None, Status.OVERDUE if late else Status.NOT_YET)
    return JobStatus(name, interval, newest, status_of(newest.outcome, newest.seen_at, ended_at, interval, now))
