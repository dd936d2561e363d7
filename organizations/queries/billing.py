"""Queries an organization's billing overview: wallet, credits, budgets, invoices and seats."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.models import Budget
from billing.queries import budgets, invoices, reports, wallets
from billing.queries.invoices import ReportedInvoice
from billing.queries.snapshots import one_snapshot
from billing.queries.wallets import WalletBalance
from organizations.models import Organization
from organizations.queries import seat_estimate
from organizations.queries.seat_estimate import SeatEstimate


@dataclass(frozen=True, slots=True)
class OrganizationBilling:
    """An organization's billing state at one moment."""

    organization: Organization
    wallet: WalletBalance
    budgets: list[Budget]
    invoices: Sequence[ReportedInvoice]
    seats: SeatEstimate


def view(organization: Organization, now: datetime) -> OrganizationBilling:
    """Return an organization's billing state at one moment. Raises OrgReportLimit if it exceeds a report's limits."""
    owner = ("organization", organization.pk)
    with one_snapshot():
        reports.check_lots(owner)
        return OrganizationBilling(
            organization=organization,
            wallet=wallets.view(owner, now),
            budgets=list(budgets.of_owner(("organization", organization.pk))),
            invoices=invoices.report_of(organization.pk),
            seats=seat_estimate.estimate(organization.pk, now),
        )
