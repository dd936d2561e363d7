"""Read how each scheduled job stands."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from gateway.core.jobs.models import JobRun
from gateway.core.jobs.rules.standings import ALARMING, Standing, is_overdue, standing_of


@dataclass(frozen=True, slots=True)
class JobStanding:
    """How a job stands at a moment, and its newest run, None where it has not run."""

    job: str
    interval: timedelta
    newest: JobRun | None
    standing: Standing

    @property
    def is_alarming(self) -> bool:
        """Return whether an operator should look at it."""
        return self.standing in ALARMING


def of_all(*, now: datetime) -> list[JobStanding]:
    """Judge every job of the schedule, in the order of their names."""
    intervals = {name: timedelta(seconds=entry["schedule"]) for name, entry in settings.CELERY_BEAT_SCHEDULE.items()}
    runs = sorted(_newest_and_oldest(sorted(intervals)), key=lambda run: run.pk)
    newest = {run.job: run for run in runs}
    ended = {run.job: run.ended_at for run in runs if run.ended_at is not None}
    recorded_since = min((run.started_at for run in runs), default=None)
    return [
        _judge(name, intervals[name], newest.get(name), ended.get(name, recorded_since), now)
        for name in sorted(intervals)
    ]


def _newest_and_oldest(names: list[str]) -> QuerySet[JobRun]:
    """Return the newest run of each job, the newest that ended, and the oldest of all, in one statement: every page of
    the console asks."""
    newest = [JobRun.objects.filter(job=name).order_by("-pk")[:1] for name in names]
    ended = [JobRun.objects.filter(job=name, ended_at__isnull=False).order_by("-pk")[:1] for name in names]
    return JobRun.objects.order_by("started_at")[:1].union(*newest, *ended, all=True)


def _judge(
    name: str, interval: timedelta, newest: JobRun | None, ended_at: datetime | None, now: datetime
) -> JobStanding:
    """Judge one job; `ended_at` is when a run of it last ended, else when anything was first recorded."""
    if newest is None:
        late = is_overdue(ended_at, interval, now)
        return JobStanding(name, interval, None, Standing.OVERDUE if late else Standing.NOT_YET)
    return JobStanding(name, interval, newest, standing_of(newest.outcome, newest.seen_at, ended_at, interval, now))
