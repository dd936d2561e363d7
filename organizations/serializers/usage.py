"""Wire format of an organization's usage summary."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from gateway.core.api.times import rfc3339
from organizations.rules.usage_summary import Summary, Tally


class TallyResponse(serializers.Serializer[Any]):
    """Requests and tokens of the calls begun in the month, charges posted in it, and current holds."""

    requests = serializers.IntegerField()
    inputTokens = serializers.IntegerField()
    outputTokens = serializers.IntegerField()
    chargedMicrousd = serializers.IntegerField()
    heldMicrousd = serializers.IntegerField()


class ProductTallyResponse(TallyResponse):
    """One product's row. Null stands for calls without a product."""

    product = serializers.CharField(allow_null=True)


class MemberTallyResponse(TallyResponse):
    """One membership's row."""

    membershipId = serializers.CharField(allow_null=True)


class UsageSummaryResponse(serializers.Serializer[Any]):
    """The summary of a half-open UTC month, by product and by member."""

    orgId = serializers.CharField()
    month = serializers.CharField()
    periodStart = serializers.DateTimeField()
    periodEnd = serializers.DateTimeField()
    products = ProductTallyResponse(many=True)
    members = MemberTallyResponse(many=True)
    totals = TallyResponse()


def render_summary(org_id: str, summary: Summary) -> dict[str, Any]:
    """Render a month. Rows without a product or member come last."""
    return {
        "orgId": org_id,
        "month": f"{summary.start:%Y-%m}",
        "periodStart": rfc3339(summary.start),
        "periodEnd": rfc3339(summary.end),
        "products": _rows("product", summary.products),
        "members": _rows("membershipId", summary.members),
        "totals": _row(summary.totals),
    }


def _rows(name: str, tallies: Mapping[str | None, Tally]) -> list[dict[str, Any]]:
    ordered = sorted(tallies.items(), key=lambda item: (item[0] is None, item[0] or ""))
    return [{name: subject, **_row(tally)} for subject, tally in ordered]


def _row(tally: Tally) -> dict[str, Any]:
    return {
        "requests": tally.requests,
        "inputTokens": tally.input_tokens,
        "outputTokens": tally.output_tokens,
        "chargedMicrousd": tally.charged_microusd,
        "heldMicrousd": tally.held_microusd,
    }
