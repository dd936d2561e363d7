"""The console's page of scheduled jobs: their states and runs."""

from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from gateway.core.console import ReadOnlyAdmin, WordFilter, needs
from gateway.core.console.moments import elapsed
from gateway.core.console.needs import Found, Need
from gateway.core.jobs.models import JobRun, Outcome
from gateway.core.jobs.queries import statuses, texts
from gateway.core.jobs.queries.statuses import JobStatus
from gateway.core.jobs.rules.counts import format_counts
from gateway.core.jobs.rules.statuses import RUN_MAX, Status

OUTCOME_COLOURS = {
    Outcome.RUNNING.label: "info",
    Outcome.DONE.label: "success",
    Outcome.FAILED.label: "danger",
    Status.UNFINISHED.value: "warning",
}


class JobFilter(WordFilter):
    """Filters by job."""

    title = "job"
    parameter_name = "job"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return sorted(((job, texts.name_of(job)) for job in settings.CELERY_BEAT_SCHEDULE), key=itemgetter(1))


class WorkFilter(admin.SimpleListFilter):
    """Separates runs that did something from those that had nothing to do."""

    title = "work"
    parameter_name = "work"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        return [("done", "Did something"), ("none", "Had nothing to do")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[JobRun]) -> QuerySet[JobRun]:
        if self.value() == "done":
            return queryset.exclude(counts={})
        return queryset.filter(counts={}) if self.value() == "none" else queryset


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    """Runs, newest first, below a table of the jobs' states."""

    empty_text = "The worker notes each run here. If nothing has appeared after a minute, start the worker."
    list_display = ("name", "started_at", "result", "did", "error", "lasted", "runs")
    list_filter = ("outcome", JobFilter, WorkFilter, "started_at")
    search_fields = ("job", "error")
    search_help_text = "Any part of a job's name or of an error."
    ordering = ("-id",)
    list_before_template = "jobs/statuses.html"
    fields = ("name", "description", "task", "result", "did", "error", "started_at", "ended_at", "runs")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        found = sorted(statuses.of_all(now=timezone.now()), key=lambda one: not one.is_alarming)
        rows = [_row(one) for one in found]
        table = {"headers": ["Job", "State", "Every", "Last run", "Did", "Error"], "rows": rows}
        return super().changelist_view(request, {"statuses": table, **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[JobRun], search_term: str
    ) -> tuple[QuerySet[JobRun], bool]:
        """Find runs by the job's name as well."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        jobs = texts.named(search_term) if search_term.strip() else []
        return (found | queryset.filter(job__in=jobs) if jobs else found), may_repeat

    def get_queryset(self, request: HttpRequest) -> QuerySet[JobRun]:
        """Add to each run whether a later run of the same job has ended."""
        later = JobRun.objects.filter(job=OuterRef("job"), pk__gt=OuterRef("pk"), ended_at__isnull=False)
        return super().get_queryset(request).annotate(is_passed=Exists(later))

    @display(description="Job", ordering="job")
    def name(self, run: JobRun) -> str:
        return texts.name_of(run.job)

    @display(description="What it does")
    def description(self, run: JobRun) -> str:
        """Describe the job, and how often it runs."""
        entry = settings.CELERY_BEAT_SCHEDULE.get(run.job)
        often = f" Runs every {_interval(timedelta(seconds=entry['schedule']))}." if entry else ""
        return f"{texts.description_of(run.job)}{often}".strip()

    @display(description="Task")
    def task(self, run: JobRun) -> str:
        """Return the path of the job's task, which is what the log names."""
        return run.job

    @display(description="Outcome", label=OUTCOME_COLOURS)
    def result(self, run: JobRun) -> str:
        """Return its outcome. A run without an end was killed if a later run of the job has ended."""
        is_over = getattr(run, "is_passed", False) or timezone.now() - run.started_at > RUN_MAX
        if run.outcome == Outcome.RUNNING and is_over:
            return Status.UNFINISHED.value
        return Outcome(run.outcome).label

    @display(description="Did")
    def did(self, run: JobRun) -> str:
        return format_counts(run.counts)

    @display(description="Duration")
    def lasted(self, run: JobRun) -> str:
        """Render the duration of a run, or the time span of several runs."""
        if run.ended_at is None:
            return ""
        return f"{(run.ended_at - run.started_at).total_seconds():.1f} s"


def _row(one: JobStatus) -> list[Any]:
    link = reverse("admin:jobs_jobrun_changelist", query={"job": one.job})
    name = format_html(
        '<div><a href="{}" class="underline">{}</a>'
        '<div class="text-xs opacity-70 max-w-md whitespace-normal">{}</div></div>',
        link,
        texts.name_of(one.job),
        texts.description_of(one.job),
    )
    run = one.newest
    if run is None:
        return [name, _state(one), _interval(one.interval), "", "", ""]
    ago = format_html(
        '<time datetime="{}">{} ago</time>', run.seen_at.isoformat(), elapsed(run.seen_at, timezone.now(), depth=1)
    )
    return [name, _state(one), _interval(one.interval), ago, format_counts(run.counts), run.error or ""]


def _state(one: JobStatus) -> SafeString:
    """Render the state; alarming ones stand out by words and weight, not only by color."""
    look = "font-semibold text-red-700 dark:text-red-400" if one.is_alarming else ""
    return format_html('<span class="{}">{}</span>', look, one.status.value)


def _interval(interval: timedelta) -> str:
    seconds = int(interval.total_seconds())
    for size, name in ((3600, "h"), (60, "min")):
        if seconds % size == 0:
            return f"{seconds // size} {name}"
    return f"{seconds} s"


def _alarming(now: datetime) -> list[Found]:
    """Return the jobs that failed, died or are overdue."""
    jobs = [one for one in statuses.of_all(now=now) if one.is_alarming]
    return [
        Found(len(jobs), one.newest.seen_at if one.newest else None, texts.name_of(one.job), _words(one), one.job)
        for one in jobs
    ]


def _words(one: JobStatus) -> str:
    error = one.newest.error if one.newest else None
    return f"{one.status.value.lower()}, {error}" if error else one.status.value.lower()


needs.register(
    Need(
        key="jobs.states",
        right="jobs.view_jobrun",
        one="Job that does not run",
        many="Jobs that do not run",
        page="jobs_jobrun_changelist",
        row_query="?job=",
        find=_alarming,
        is_urgent=True,
    )
)
