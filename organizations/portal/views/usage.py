"""What the organization used this month, and what its seats cost."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from gateway.core.contract.amounts import decimals_of
from gateway.core.contract.errors import OrgReportLimit
from organizations.models import Membership
from organizations.portal import words
from organizations.portal.pages import member_page, name_of, product_choices, show
from organizations.queries import memberships, seat_estimate, usage
from organizations.rules.roles import MONEY_MANAGERS
from organizations.rules.usage_summary import Tally

TAB = "organization_usage"

Rows = list[tuple[str, Tally]]


@require_GET
@member_page(*MONEY_MANAGERS)
def index(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Show this month's calls by product and by member, and the estimate for seats."""
    org_id, now = membership.organization_id, timezone.now()
    try:
        month, seats = usage.summary(org_id, previous=False, now=now), seat_estimate.estimate(org_id, now)
    except OrgReportLimit as error:
        return show(request, membership, TAB, too_much=words.of_error(error))
    products = dict(product_choices(org_id))
    parts = (
        ("product", _rows(month.products, products, "No product")),
        ("member", _rows(month.members, _people(org_id, month.members), "No member")),
    )
    context = {
        "month": month,
        "parts": parts,
        "places": decimals_of(_amounts(month.products) + _amounts(month.members)),
        "seats": seats,
        "estimates": [(products.get(one.product, one.product), one) for one in seats.products],
        "seat_places": decimals_of(
            cost for one in seats.products for cost in (one.accrued_microusd, one.projected_microusd)
        ),
    }
    return show(request, membership, TAB, **context)


def _people(org_id: str, members: Iterable[str | None]) -> dict[str, str]:
    ids = [one for one in members if one]
    return {one.pk: name_of(one.account) for one in memberships.named(org_id, ids)}


def _rows(tallies: dict[str | None, Tally], names: dict[str, str], nobody: str) -> Rows:
    """Return the rows of a table, the dearest first."""
    rows = [(names.get(key, key) if key else nobody, tally) for key, tally in tallies.items()]
    return sorted(rows, key=lambda row: (-row[1].charged_microusd, row[0]))


def _amounts(tallies: dict[str | None, Tally]) -> list[int]:
    return [amount for one in tallies.values() for amount in (one.charged_microusd, one.held_microusd)]
