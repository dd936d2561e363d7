"""Wire format of usage records. SPEC: Account and access."""

from collections.abc import Iterable
from typing import Any

from rest_framework import serializers

from billing.models import Call, Seal
from billing.rules.call_labels import STATUS
from billing.serializers.receipts import ComponentResponse, render_components
from gateway.core.api.times import rfc3339, rfc3339_or_none

QUANTITIES = {
    "inputTokens": "input_tokens",
    "cachedInputTokens": "cached_input_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "outputTokens": "output_tokens",
    "inputAudioTokens": "input_audio_tokens",
    "outputAudioTokens": "output_audio_tokens",
    "images": "images",
    "inputCharacters": "input_characters",
    "inputBytes": "input_bytes",
    "items": "items",
    "seconds": "seconds",
    "serviceTier": "service_tier",
    "priceBand": "price_band",
}


class UsageRecordResponse(serializers.Serializer[Any]):
    """One metered call; a quantity that was not metered is null, amounts are in micro-USD."""

    usageId = serializers.CharField()
    requestId = serializers.CharField(allow_null=True)
    route = serializers.CharField()
    model = serializers.CharField()
    product = serializers.CharField(allow_null=True)
    orgId = serializers.CharField(allow_null=True)
    membershipId = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(["settled", "held", "released", "reconciling"])
    inputTokens = serializers.IntegerField(allow_null=True)
    cachedInputTokens = serializers.IntegerField(allow_null=True)
    cacheWriteTokens = serializers.IntegerField(
        allow_null=True, help_text="Written to the upstream's prompt cache, for whatever time."
    )
    outputTokens = serializers.IntegerField(allow_null=True)
    inputAudioTokens = serializers.IntegerField(allow_null=True)
    outputAudioTokens = serializers.IntegerField(allow_null=True)
    images = serializers.IntegerField(allow_null=True)
    inputCharacters = serializers.IntegerField(allow_null=True)
    inputBytes = serializers.IntegerField(allow_null=True)
    items = serializers.IntegerField(allow_null=True)
    seconds = serializers.IntegerField(allow_null=True)
    serviceTier = serializers.CharField(
        allow_null=True, help_text="The tier whose prices were charged; null: the default."
    )
    priceBand = serializers.IntegerField(
        allow_null=True,
        help_text="The `above_input_tokens` of the band whose prices were charged; null: below all bands.",
    )
    heldMicrousd = serializers.IntegerField(
        help_text="The amount that the call holds now; 0 once it is settled or released."
    )
    chargedMicrousd = serializers.IntegerField()
    createdAt = serializers.DateTimeField()
    settledAt = serializers.DateTimeField(allow_null=True)
    idempotencyKey = serializers.CharField(allow_null=True)


class UsageDetailResponse(UsageRecordResponse):
    """One metered call with the components of its charge: their exact sum, rounded up once, is `chargedMicrousd`."""

    components = ComponentResponse(many=True)
    sealedAt = serializers.DateTimeField(
        allow_null=True, help_text="When a seal covered the call, after which it cannot be changed unnoticed."
    )


class UsageListResponse(serializers.Serializer[Any]):
    """Newest first."""

    data = UsageRecordResponse(many=True)  # type: ignore[assignment]


def render_usage(calls: Iterable[Call]) -> dict[str, Any]:
    """Render a list of calls."""
    return {"data": [render_call(call) for call in calls]}


def render_detail(call: Call, seal: Seal | None) -> dict[str, Any]:
    """Render one call with its components and the time of its seal."""
    sealed_at = rfc3339_or_none(seal.sealed_at if seal else None)
    return {**render_call(call), "components": render_components(call), "sealedAt": sealed_at}


def render_call(call: Call) -> dict[str, Any]:
    """Render one call."""
    used = getattr(call, "usage_record", None)
    return {
        "usageId": call.id,
        "requestId": call.request_id,
        "route": call.route,
        "model": call.model,
        "product": call.product,
        "orgId": call.org_id,
        "membershipId": call.membership_id,
        "status": STATUS[call.state],
        **{name: getattr(used, column, None) for name, column in QUANTITIES.items()},
        "heldMicrousd": call.hold_microusd if call.closed_at is None else 0,
        "chargedMicrousd": call.charge_microusd or 0,
        "createdAt": rfc3339(call.created_at),
        "settledAt": rfc3339_or_none(used.settled_at if used else None),
        "idempotencyKey": call.idempotency_key,
    }
