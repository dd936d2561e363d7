"""Filters of the console's list of calls.

The list is read from the newest call backwards by the calls' ids, which begin with their time, and a span bounds how far back: no filter
needs an index of its own, which every hold would pay for.
"""

from datetime import datetime

from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Product
from billing.models import Call, CallState, PriceVersion, Wallet
from billing.rules.call_causes import CAUSES, DECISIONS
from gateway.core.console import parties
from gateway.core.console.estimated_counts import estimate
from gateway.core.console.filters import ChoiceFilter, KeyFilter, PeriodFilter
from gateway.core.console.row_names import ids_by_name
from gateway.core.contract.aliases import Route
from gateway.core.contract.ids import first_id_of_time

USAGE_ID = "use_"
NONE = "-"
OPEN_STATES = (CallState.HELD.value, CallState.REVIEW.value)


SCANNED_MAX = 500_000
"""The calls among which a filter may look for one that it hardly leaves: half a second. A busier week is narrowed to a day."""


class CallPeriodFilter(PeriodFilter):
    """Filters by when a call began: a week, or of a busy gateway a day. A search for a usage id finds the call whenever it was."""

    def is_unbounded(self, request: HttpRequest) -> bool:
        return request.GET.get(SEARCH_VAR, "").strip().startswith(USAGE_ID) or _is_of_open(request)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        """Narrow by time; open calls also by the condition of their index, which finds them without one."""
        if self.value() is None and not self.is_unbounded(request):
            week = self.since(Call.objects.all(), timezone.now() - self.spans["week"][1])
            self.usual = "week" if estimate(week) <= SCANNED_MAX else "day"
        found = super().queryset(request, queryset)
        return found.filter(closed_at=None) if _is_of_open(request) else found

    def since(self, rows: QuerySet[Call], at: datetime) -> QuerySet[Call]:
        return rows.filter(pk__gte=first_id_of_time("use", int(at.timestamp() * 1000)))


class ModelFilter(ChoiceFilter):
    """Filters by the alias or raw model that was asked for: those that ever had a price."""

    title = parameter_name = "model"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        names = PriceVersion.objects.order_by("alias").values_list("alias", flat=True).distinct()
        return [(name, name) for name in names]


class UpstreamFilter(ChoiceFilter):
    """Filters by the upstream that answered, or was tried last."""

    title = parameter_name = "upstream"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [(name, name) for name in ids_by_name("upstream of deployment")]

    def narrowed(self, rows: QuerySet[Call], value: str) -> QuerySet[Call]:
        return rows.filter(deployment__in=list(ids_by_name("upstream of deployment").get(value, ())))


class ProductFilter(ChoiceFilter):
    """Filters by the product of the token, or calls without one."""

    title = parameter_name = "product"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [*Product.objects.order_by("name").values_list("slug", "name"), (NONE, "No product")]

    def narrowed(self, rows: QuerySet[Call], value: str) -> QuerySet[Call]:
        return rows.filter(product=None) if value == NONE else rows.filter(product=value)


class RouteFilter(ChoiceFilter):
    """Filters by the routes of the API."""

    title = parameter_name = "route"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        return [(route, route) for route in Route]


class CauseFilter(ChoiceFilter):
    """Filters by why a call failed or was decided."""

    title = "cause of failure"
    parameter_name = "cause"

    def words(self, request: HttpRequest) -> list[tuple[str, str]]:
        known = {**CAUSES, **DECISIONS}
        return [(word, f"{text.title} · {word}") for word, text in known.items()]

    def narrowed(self, rows: QuerySet[Call], value: str) -> QuerySet[Call]:
        return rows.filter(Q(resolution=value) | Q(review_reason=value))


class AccountFilter(KeyFilter):
    """Filters by who called: a DID, or part of a name or email address."""

    title = "account (DID, name or email)"
    parameter_name = "account"

    def narrowed(self, rows: QuerySet[Call], value: str) -> QuerySet[Call]:
        return rows.filter(actor_did__in=[value, *parties.found(value)])


class OrganizationFilter(KeyFilter):
    """Filters by the organization that pays, by its id or part of its name."""

    title = "organization (id or name)"
    parameter_name = "organization"

    def narrowed(self, rows: QuerySet[Call], value: str) -> QuerySet[Call]:
        owners = Wallet.objects.filter(owner_kind="organization", owner_key__in=[value, *parties.found(value)])
        return rows.filter(wallet_id__in=list(owners.values_list("pk", flat=True)))


def _is_of_open(request: HttpRequest) -> bool:
    return request.GET.get("state__exact") in OPEN_STATES
