"""Wire formats of requests that involve the payment provider."""

from typing import Any

from rest_framework import serializers

from gateway.core.api.serializers import IdempotencyKeyField, StrictSerializer, StrictStringField, WholeCentsField

TOP_UP, PAYMENT_METHOD = "top_up", "payment_method"


class CheckoutRequest(StrictSerializer):
    """The body of POST …/billing/checkout. A payment method has neither amount nor product."""

    kind = serializers.ChoiceField([TOP_UP, PAYMENT_METHOD])
    amountMicros = WholeCentsField(required=False, help_text="The amount in micro-USD: a whole number of cents.")
    product = StrictStringField(max_length=64, required=False, allow_null=True)
    idempotencyKey = IdempotencyKeyField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that the members fit the kind."""
        if attrs["kind"] == TOP_UP and "amountMicros" not in attrs:
            raise serializers.ValidationError({"amountMicros": ["A top-up needs an amount."]})
        if attrs["kind"] == PAYMENT_METHOD:
            for name in ("amountMicros", "product"):
                if attrs.get(name) is not None:
                    raise serializers.ValidationError({name: ["Only a top-up can have this."]})
        return attrs


class OrganizationCheckoutResponse(serializers.Serializer[Any]):
    """The provider's payment page."""

    provider = serializers.CharField()
    transactionId = serializers.CharField(source="id")
    url = serializers.CharField(
        help_text="The provider's payment page. Open it for the customer; it expires after a day."
    )


class ExternalMappingRequest(StrictSerializer):
    """The body of POST …/billing/external-mapping."""

    product = StrictStringField(max_length=64)
    provider = StrictStringField(max_length=64)
    externalOrgId = StrictStringField(max_length=255)
    mode = serializers.ChoiceField(["test", "live"])


class ExternalMappingResponse(serializers.Serializer[Any]):
    """A product whose seats are billed externally."""

    product = serializers.CharField()
    provider = serializers.CharField()
    externalOrgId = serializers.CharField(source="external_org_id")
    mode = serializers.CharField()
    status = serializers.ChoiceField(["verified"], default="verified")
    verifiedAt = serializers.DateTimeField(source="verified_at")
