"""The console's pages of requests that were refused, or failed before they became calls."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from gateway.core.console import PartyColumn, ReadOnlyAdmin, parties
from gateway.core.console.filters import ChoiceFilter, KeyFilter, PeriodFilter
from gateway.core.console.moments import after, lasted, moment, offset
from gateway.core.console.phase_bars import bar
from gateway.core.contract.aliases import Route
from gateway.core.contract.amounts import usd
from gateway.core.contract.error_docs import ErrorDocs
from gateway.core.contract.error_help import HELP, ErrorHelp
from gateway.core.contract.errors import ApiError
from gateway.core.telemetry.models import RequestTrace
from gateway.core.telemetry.observation import COUNT_TOKENS, Outcome
from gateway.core.telemetry.queries import traces
from gateway.core.telemetry.rules import checks
from gateway.core.telemetry.rules.phases import phases_of

ERRORS: dict[str, tuple[type[ApiError], ErrorHelp]] = {error.code: (error, text) for error, text in HELP.items()}
OUTCOME_COLOURS = {
    "Refused": "warning",
    "Failed": "danger",
    "Settled": "success",
    "Review": "warning",
    "Released": "default",
    "Replayed": "info",
    "Counted": "default",
}
CALLS = "calls"
_MARKS = {
    "authenticated": "Proof and token are valid",
    "received": "The body has arrived",
    "checked": "The checks outside the ledger are passed",
    "held": "The hold is placed",
    "sent": "Sent to an upstream",
    "first_byte": "First byte of the upstream's answer",
    "upstream_done": "The upstream's answer is complete",
    "settled": "The ledger closed the call",
    "answered": "The last byte of the answer was passed to the client's connection",
}


class OutcomeFilter(ChoiceFilter):
    """Filters by how a request ended: those that never became calls, unless something else is chosen."""

    title = parameter_name = "outcome"
    all_option = None

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        ends = [(outcome.value, outcome.value.capitalize()) for outcome in Outcome]
        return [("", "Refused or failed"), *ends, ("all", "All")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[RequestTrace]) -> QuerySet[RequestTrace]:
        match self.value():
            case "all":
                return queryset
            case None | "":
                return queryset.filter(outcome__in=traces.UNCHARGED)
        return queryset.filter(outcome=self.value())


class CodeFilter(ChoiceFilter):
    """Filters by the error that the caller got."""

    title = "error"
    parameter_name = "code"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [(code, code) for code in sorted(ERRORS)]


class RequestPeriodFilter(PeriodFilter):
    """Filters by when a request arrived."""

    spans = {word: PeriodFilter.spans[word] for word in ("hour", "day", "week")} | {
        "any": (f"Last {settings.REQUEST_TRACE_DAYS} days", timedelta(0))
    }
    usual = "any"

    def since(self, rows: QuerySet[RequestTrace], at: Any) -> QuerySet[RequestTrace]:
        return rows.filter(began_at__gte=at)


class RouteFilter(ChoiceFilter):
    """Filters by the routes of the API."""

    title = parameter_name = "route"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [(route, route) for route in (*Route, COUNT_TOKENS)]


class ModelFilter(KeyFilter):
    title = parameter_name = "model"


class ProductFilter(KeyFilter):
    title = parameter_name = "product"


class AccountFilter(KeyFilter):
    """Filters by who called: a DID, or part of a name or email address."""

    title = "account (DID, name or email)"
    parameter_name = "account"

    def narrowed(self, rows: QuerySet[RequestTrace], value: str) -> QuerySet[RequestTrace]:
        return rows.filter(account__in=[value, *parties.found(value)])


@admin.register(RequestTrace)
class RequestTraceAdmin(ReadOnlyAdmin):
    """Recent requests: by default those that were refused, or failed, before they became calls."""

    empty_text = "Nothing was refused. Requests that became calls are listed under Calls."
    who = PartyColumn("Account", "account")
    organization = PartyColumn("Organization", "org_id", kind="organization")

    list_display = ("request_id", "at", "how", "code", "refused_by", "model", "product", "who", "took")
    list_filter = (
        *(OutcomeFilter, CodeFilter, RequestPeriodFilter, RouteFilter, ModelFilter, ProductFilter),
        AccountFilter,
    )
    list_filter_submit = True
    list_filter_sheet = True
    list_before_template = "admin/telemetry/requests.html"
    change_form_outer_before_template = "admin/telemetry/request.html"
    search_fields = ("request_id__exact", "usage_id__exact")
    search_help_text = "A complete request ID or usage ID."
    ordering = ("-began_at", "-id")
    fields = (
        *("request_id", "usage", "how", "status", "code", "route", "model", "product", "who", "organization"),
        *("client_id", "credential", "upstream", "at", "took"),
    )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list, and how many requests of it were left out under load."""
        if not self.has_view_permission(request):
            return super().changelist_view(request, extra_context)
        since = timezone.now() - timedelta(days=settings.REQUEST_TRACE_DAYS)
        context = {
            "title": "Refused requests",
            "left_out": traces.left_out(traces.UNCHARGED, since),
            "trace_days": settings.REQUEST_TRACE_DAYS,
        }
        return super().changelist_view(request, {**context, **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show why a request was refused, above its columns."""
        trace = self.get_object(request, object_id)
        if trace is None or not self.has_view_permission(request, trace):
            return super().change_view(request, object_id, form_url, extra_context)
        return super().change_view(request, object_id, form_url, {"page": _page(trace), **(extra_context or {})})

    @display(description="Arrived (UTC)", ordering="began_at")
    def at(self, trace: RequestTrace) -> str:
        return moment(trace.began_at)

    @display(description="Outcome", label=OUTCOME_COLOURS)
    def how(self, trace: RequestTrace) -> str:
        return trace.outcome.capitalize()

    @display(description="Refused by")
    def refused_by(self, trace: RequestTrace) -> str:
        return _refused_by(trace)

    @display(description="Took")
    def took(self, trace: RequestTrace) -> str:
        return lasted(trace.duration_microseconds)

    @display(description="Call")
    def usage(self, trace: RequestTrace) -> str | SafeString:
        """Link to the call, if the request made one."""
        return _call_link(trace) or "none"


def _page(trace: RequestTrace) -> dict[str, Any]:
    error, text = ERRORS.get(trace.code, (None, None))
    phases = phases_of(trace.steps, trace.duration_microseconds)
    whole = max([trace.duration_microseconds, *(phase.end for phase in phases)])
    reached = [str(name) for name, _ in trace.steps.get("marks") or ()]
    return {
        "trace": trace,
        "message": error.default_message if error else "",
        "cause": _marked_up(text.cause) if text else "",
        "remedy": _marked_up(text.remedy) if text else "",
        "retry": _marked_up(text.retry) if text else "",
        "docs": ErrorDocs.url(trace.code) if error else "",
        "call": _call_link(trace),
        "by": _refused_by(trace),
        "checks": _checks(trace, reached),
        "bars": [bar(one.name, one.begin, one.end, whole=whole, kind=one.kind) for one in phases],
        "steps": _steps(trace),
        "hold": "" if trace.hold_microusd is None else usd(trace.hold_microusd),
    }


def _refused_by(trace: RequestTrace) -> str:
    """Name the check that refused a request, or those that may have."""
    if trace.outcome != Outcome.REFUSED:
        return ""
    reached = [str(name) for name, _ in trace.steps.get("marks") or ()]
    found = checks.refusing(trace.code, reached)
    return (
        " or ".join(f"{check.number}. {check.title}" for check in found) or "No check: the gateway could not serve it"
    )


def _checks(trace: RequestTrace, reached: list[str]) -> dict[str, Any]:
    found = checks.results(trace.code, reached) if trace.outcome == Outcome.REFUSED else []
    rows = [[str(check.number), check.title, result.value] for check, result in found]
    return {"headers": ["Order", "Check", "Result"], "rows": rows}


def _steps(trace: RequestTrace) -> list[tuple[str, str, str]]:
    marks = [(int(at), _MARKS.get(str(name), str(name))) for name, at in trace.steps.get("marks") or ()]
    end = f"answered with status {trace.status}" if trace.status else "ended without an answer"
    steps = [
        (0, f"The request arrived: {trace.route}"),
        *marks,
        (trace.duration_microseconds, f"The request was {end}"),
    ]
    return [(moment(after(trace.began_at, at)), offset(at), text) for at, text in steps]


def _marked_up(text: str) -> SafeString:
    """Render a text of the error help, whose only Markdown is `code`."""
    pieces = enumerate(text.split("`"))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", piece) if n % 2 else piece,) for n, piece in pieces)
    )


def _call_link(trace: RequestTrace) -> SafeString | str:
    """Link to the call that a request made, or whose answer it got."""
    if not trace.usage_id or trace.outcome in traces.UNCHARGED:
        return ""
    try:
        page = reverse("admin:billing_call_change", args=[trace.usage_id])
    except NoReverseMatch:  # another gateway's apps
        return trace.usage_id
    return format_html('<a class="underline" href="{}">{}</a>', page, trace.usage_id)
