"""Billing, budgets and usage of an organization."""

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.operations import limits
from billing.models import Budget
from billing.rules.budgets import BudgetPeriod
from gateway.core.api.access import requires
from gateway.core.api.drf_internals import django_request
from gateway.core.api.pagination import LIMIT_OF_ALL, limited
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import (
    ExternalMappingUnverified,
    IdempotencyKeyReused,
    IntegrationUnavailable,
    InvalidRequest,
    NotFound,
    OrgReportLimit,
    RateLimited,
)
from gateway.core.contract.route_limits import REPORTS
from gateway.core.http.rate_limits import note
from organizations.operations import budgets, checkouts, external_mappings
from organizations.queries import billing, memberships, usage
from organizations.rules.roles import MONEY_MANAGERS, OWNERS
from organizations.serializers.billing import OrganizationBillingResponse, render_billing
from organizations.serializers.budgets import BudgetRequest, BudgetResponse, override_of
from organizations.serializers.checkout import (
    CheckoutRequest,
    ExternalMappingRequest,
    ExternalMappingResponse,
    OrganizationCheckoutResponse,
)
from organizations.serializers.members import MemberList, render_members
from organizations.serializers.usage import UsageSummaryResponse, render_summary
from organizations.views.base import OrganizationViewSet, actor

MONTHS = ("current", "previous")
_MONTH = OpenApiParameter("month", OpenApiTypes.STR, enum=MONTHS, default=MONTHS[0], description="A UTC month.")


class OrganizationBillingViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/billing and its members."""

    @refuses(OrgReportLimit)
    @extend_schema(
        operation_id="get_organization_billing",
        summary="Show an organization's billing",
        responses=OrganizationBillingResponse,
    )
    @requires(Capability.WALLET_READ, roles=MONEY_MANAGERS)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Show wallet, credits, budgets, invoices and the cost of this month's seats."""
        now = timezone.now()
        note(django_request(request), limits.take(REPORTS, actor(request), now=now))
        found = billing.view(self.membership.organization, now)
        return Response(render_billing(found, now))

    @extend_schema(
        operation_id="list_billing_members",
        summary="List members for budgets",
        parameters=[LIMIT_OF_ALL],
        responses=MemberList,
    )
    @requires(Capability.WALLET_READ, roles=MONEY_MANAGERS)
    def members(self, request: Request, org_id: str) -> Response:
        """List the memberships that a budget can name, including removed ones."""
        return Response(render_members(limited(request, memberships.listed(org_id))))


class BudgetsViewSet(OrganizationViewSet):
    """/v1/organizations/<org_id>/budgets and one of them."""

    @extend_schema(operation_id="set_budget", summary="Set a budget", request=BudgetRequest, responses=BudgetResponse)
    @requires(Capability.BUDGETS_MANAGE, roles=MONEY_MANAGERS)
    def update(self, request: Request, org_id: str) -> Response:
        """Set what the organization, a product, a member, or a member's use of a product may spend in a day, a week or a
        month. Another period is another budget, and all of them hold at once. `override` is another limit until it ends;
        null ends it, and without the member it stays.
        """
        body = read(BudgetRequest, request.data)
        budget = budgets.put(
            org_id=org_id,
            limit_microusd=body["limitMicrousd"],
            product=body.get("product"),
            membership_id=body.get("membershipId"),
            period=BudgetPeriod(body.get("period", BudgetPeriod.MONTH)),
            override=override_of(body),
            actor_did=actor(request),
        )
        return _answer(budget)

    @extend_schema(operation_id="disable_budget", summary="Disable a budget", responses=BudgetResponse)
    @requires(Capability.BUDGETS_MANAGE, roles=MONEY_MANAGERS)
    def destroy(self, request: Request, org_id: str, budget_id: str) -> Response:
        """Disable a budget. Holds of open calls remain."""
        return _answer(budgets.disable(org_id=org_id, budget_id=budget_id, actor_did=actor(request)))


class OrganizationUsageViewSet(OrganizationViewSet):
    """GET /v1/organizations/<org_id>/usage."""

    @refuses(OrgReportLimit)
    @extend_schema(
        operation_id="summarize_usage",
        summary="Summarize a month's usage",
        parameters=[_MONTH],
        responses=UsageSummaryResponse,
    )
    @requires(Capability.USAGE_READ, roles=MONEY_MANAGERS)
    def retrieve(self, request: Request, org_id: str) -> Response:
        """Summarize the current or the previous month by product and by member."""
        month = request.query_params.get("month", MONTHS[0])
        if month not in MONTHS:
            raise InvalidRequest("month must be current or previous.", param="month")
        now = timezone.now()
        note(django_request(request), limits.take(REPORTS, actor(request), now=now))
        found = usage.summary(org_id, previous=month == "previous", now=now)
        return Response(render_summary(org_id, found))


class PaymentsViewSet(OrganizationViewSet):
    """The routes that need a payment provider."""

    @refuses(IdempotencyKeyReused, RateLimited, IntegrationUnavailable)
    @extend_schema(
        operation_id="checkout_for_organization",
        summary="Start a payment for an organization",
        request=CheckoutRequest,
        responses={201: OrganizationCheckoutResponse},
    )
    @requires(Capability.BILLING_CHECKOUT, roles=MONEY_MANAGERS)
    def checkout(self, request: Request, org_id: str) -> Response:
        """Start a payment into the organization's wallet, or save a payment method. The wallet is credited once the
        provider confirms that exactly this amount was paid: as a credit for the product, if one is named, else as
        balance. Repeating the request with the same key returns the same transaction, also after a lost response or a
        503.
        """
        body = read(CheckoutRequest, request.data)
        begun = checkouts.begin(
            org_id=org_id,
            kind=body["kind"],
            amount_microusd=body.get("amountMicros"),
            product=body.get("product"),
            idempotency_key=body["idempotencyKey"],
            actor_did=actor(request),
        )
        return Response(OrganizationCheckoutResponse(begun).data, status=201)

    @refuses(ExternalMappingUnverified, IntegrationUnavailable, NotFound)
    @extend_schema(
        operation_id="map_external_billing",
        summary="Map a product to external billing",
        request=ExternalMappingRequest,
        responses=ExternalMappingResponse,
    )
    @requires(Capability.BILLING_CHECKOUT, roles=OWNERS)
    def map(self, request: Request, org_id: str) -> Response:
        """Map a product's seats to an external billing account that the payment provider confirms. Repeating verifies it
        again.

        `externalOrgId` is an account connected at the provider, whose metadata names this organization as `org_id`,
        with its details submitted and charges enabled, in the `mode` of the gateway's own key.
        """
        body = read(ExternalMappingRequest, request.data)
        mapping = external_mappings.put(
            org_id=org_id,
            product=body["product"],
            provider=body["provider"],
            external_org_id=body["externalOrgId"],
            mode=body["mode"],
            actor_did=actor(request),
        )
        return Response(ExternalMappingResponse(mapping).data)


def _answer(budget: Budget) -> Response:
    return Response(BudgetResponse(budget, context={"now": timezone.now()}).data)
