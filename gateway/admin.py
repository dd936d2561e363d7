"""The operator console's dashboard: open holds and losses, and what waits for an operator."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, Sum
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince

from billing.models import Call, CallState, Checkout, CheckoutStatus, Loss, Wallet
from billing.queries import margins, payment_matching
from gateway.core.contract.amounts import usd
from gateway.core.events.queries import backlog
from gateway.core.jobs.queries import statuses
from inference.queries import price_proposals

LOSS_DAYS = 30
RECENT_ROWS = 8


def environment(request: HttpRequest) -> list[str]:
    """Return the environment's name for the header."""
    return ["Development", "info"] if settings.DEMO_ADAPTER else ["Production", "danger"]


def review_count(request: HttpRequest) -> int | None:
    """Count the calls that wait for an operator; None if there are none."""
    return Call.objects.filter(closed_at=None, state=CallState.REVIEW).count() or None


def payment_review_count(request: HttpRequest) -> int | None:
    """Count the checkouts that wait for an operator; None if there are none."""
    return Checkout.objects.filter(status=CheckoutStatus.REVIEW).count() or None


def difference_count(request: HttpRequest) -> int | None:
    """Count the payments on which the provider's balance differs; None if there are none."""
    return payment_matching.open_differences().count() or None


def price_proposal_count(request: HttpRequest) -> int | None:
    """Count the proposed prices that wait for an operator; None if there are none."""
    return price_proposals.count_waiting() or None


def job_alarm_count(request: HttpRequest) -> int | None:
    """Count the jobs that failed, died or are overdue; None if there are none."""
    return sum(one.is_alarming for one in statuses.of_all(now=timezone.now())) or None


def negative_margin_count(request: HttpRequest) -> int | None:
    """Count the models that are sold below their cost; None if there are none."""
    return margins.negative_count() or None


def troubled_endpoint_count(request: HttpRequest) -> int | None:
    """Count the endpoints that do not take their events; None if there are none."""
    return backlog.troubled().count() or None


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the figures that this operator may see. Each is read from an index of open or rare rows."""
    if request.user.has_perm("billing.view_call"):
        context["title"] = "Overview"
        context["cards"], context["lists"] = [_held(), _in_review()], [_reviews()]
        if request.user.has_perm("billing.view_loss"):
            context["cards"].append(_losses())
            context["lists"].append(_recent_losses())
        if request.user.has_perm("billing.view_wallet"):
            context["cards"].append(_debts())
        if request.user.has_perm("billing.view_paymentdifference"):
            context["lists"].append(_differences())
        if request.user.has_perm("billing.view_marginday"):
            context["lists"].append(_negative_margins())
        if request.user.has_perm("events.view_endpoint"):
            context["lists"].append(_troubled_endpoints())
    return context


def _held() -> dict[str, Any]:
    open_calls = Call.objects.filter(closed_at=None).aggregate(sum=Sum("hold_microusd"), count=Count("pk"))
    link = reverse("admin:billing_call_changelist") + "?state__exact=dispatched"
    return _card("Held by open calls", open_calls["sum"], f"{open_calls['count']} open", link)


def _in_review() -> dict[str, Any]:
    waiting = Call.objects.filter(closed_at=None, state=CallState.REVIEW)
    found = waiting.aggregate(sum=Sum("hold_microusd"), count=Count("pk"), oldest=Min("created_at"))
    age = f", oldest {timesince(found['oldest'], depth=1)}" if found["oldest"] else ""
    link = reverse("admin:billing_call_changelist") + "?state__exact=review"
    return _card("Reconciling", found["sum"], f"{found['count']} waiting{age}", link)


def _losses() -> dict[str, Any]:
    since = timezone.now() - timedelta(days=LOSS_DAYS)
    found = Loss.objects.filter(created_at__gte=since).aggregate(sum=Sum("amount_microusd"), count=Count("pk"))
    link = reverse("admin:billing_loss_changelist")
    return _card(f"Losses, last {LOSS_DAYS} days", found["sum"], f"{found['count']} recorded", link)


def _debts() -> dict[str, Any]:
    found = Wallet.objects.filter(debt_microusd__gt=0).aggregate(sum=Sum("debt_microusd"), count=Count("pk"))
    return _card(
        "Debts",
        found["sum"],
        f"{found['count']} wallet{pluralize(found['count'])}",
        reverse("admin:billing_wallet_changelist"),
    )


def _card(title: str, amount_microusd: int | None, note: str, link: str) -> dict[str, Any]:
    return {"title": title, "amount": usd(amount_microusd or 0), "note": note, "link": link}


def _reviews() -> dict[str, Any]:
    calls = Call.objects.filter(closed_at=None, state=CallState.REVIEW).order_by("created_at")[:RECENT_ROWS]
    rows = [
        [
            _link("billing_call_change", call.pk, call.pk),
            call.model,
            usd(call.hold_microusd),
            call.review_reason or "",
            timesince(call.created_at, depth=1),
        ]
        for call in calls
    ]
    table = {"headers": ["Call", "Model", "Hold", "Reason", "Waiting"], "rows": rows}
    return {"title": "Waiting for a decision", "table": table, "empty": "No calls are waiting for a decision."}


def _recent_losses() -> dict[str, Any]:
    rows = [
        [
            _link("billing_call_change", loss.call_id, loss.call_id),
            loss.get_kind_display(),
            usd(loss.amount_microusd),
            f"{timesince(loss.created_at, depth=1)} ago",
        ]
        for loss in Loss.objects.order_by("-id")[:RECENT_ROWS]
    ]
    table = {"headers": ["Call", "Kind", "Amount", "Recorded"], "rows": rows}
    return {"title": "Latest losses", "table": table, "empty": "There are no losses."}


def _differences() -> dict[str, Any]:
    rows = [
        [
            _link("billing_paymentdifference_change", one.pk, one.transaction_id),
            one.get_kind_display(),
            usd(one.their_kept_microusd),
            usd(one.our_kept_microusd),
            f"{timesince(one.found_at, depth=1)} ago",
        ]
        for one in payment_matching.open_differences().order_by("-pk")[:RECENT_ROWS]
    ]
    table = {"headers": ["Payment", "Difference", "At the provider", "Here", "Found"], "rows": rows}
    empty = "The provider's balance and the payments here agree."
    return {"title": "Payment differences", "table": table, "empty": empty}


def _negative_margins() -> dict[str, Any]:
    report = reverse("admin:billing_marginday_changelist")
    rows = [
        [
            format_html('<a href="{}" class="underline">{}</a>', report, one.model),
            f"{one.calls:,}",
            usd(one.margin_microusd),
            f"{timesince(one.since, depth=1)} ago",
        ]
        for one in margins.negative()[:RECENT_ROWS]
    ]
    table = {"headers": ["Model", "Last calls", "Their margin", "Since"], "rows": rows}
    return {"title": "Sold below cost", "table": table, "empty": "No model is sold below its cost."}


def _troubled_endpoints() -> dict[str, Any]:
    rows = [
        [
            _link("events_endpoint_change", one.pk, one.name),
            one.product,
            one.disabled_reason or "Its last attempts failed.",
            timesince(one.failing_since, depth=1) if one.failing_since else "",
        ]
        for one in backlog.troubled()[:RECENT_ROWS]
    ]
    table = {"headers": ["Endpoint", "Product", "State", "Since"], "rows": rows}
    return {"title": "Endpoints that fail", "table": table, "empty": "Every endpoint takes its events."}


def _link(page: str, key: Any, text: Any) -> str:
    return format_html('<a href="{}" class="underline">{}</a>', reverse(f"admin:{page}", args=[key]), text)
