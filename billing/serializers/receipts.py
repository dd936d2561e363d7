"""Wire formats of a call's components and of its receipt."""

from datetime import datetime
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.operations.receipt_keyring import receipt_keyring
from billing.models import Call, CallState, Seal
from billing.queries import charges, seals
from billing.rules.call_labels import STATUS
from billing.rules.charge_components import Component
from billing.rules.owners import Owner
from billing.rules.price_notation import PriceNotation
from gateway.core.api.times import rfc3339
from gateway.core.contract.amounts import microusd_of_pico
from gateway.core.contract.errors import NotSettled


class ComponentResponse(serializers.Serializer[Any]):
    """A component of a charge. The amount is the quantity at the unit price; where that is null, it is stated alone."""

    component = serializers.CharField(
        help_text="A component of the price list; `cap` for what was used beyond the hold and is not charged; `adjustment` "
        "for what no quantities explain, such as a charge that the operator decided."
    )
    quantity = serializers.IntegerField(allow_null=True)
    unitPriceMicrousd = serializers.CharField(allow_null=True, help_text="A decimal, as in the price list.")
    amountMicrousd = serializers.CharField(help_text="An exact decimal with 6 decimals.")


class ReceiptResponse(serializers.Serializer[Any]):
    """A signed receipt."""

    receipt = serializers.CharField(help_text="A compact JWS of type `receipt+jwt`, signed with ES256.")


def render_components(call: Call) -> list[dict[str, Any]]:
    """Render the components of a call's charge; none unless it is settled."""
    components = charges.components(call)
    notation = charges.notation(call) if components else PriceNotation({})
    return [_render_component(component, notation) for component in components]


def _render_component(component: Component, notation: PriceNotation) -> dict[str, Any]:
    price = component.unit_price
    return {
        "component": component.name,
        "quantity": component.quantity,
        "unitPriceMicrousd": None if price is None else notation.of(component.name, price),
        "amountMicrousd": microusd_of_pico(component.amount),
    }


def sign_receipt(call: Call, owner: Owner, *, now: datetime) -> str:
    """Return the receipt of a call of this owner as a compact JWS. Raises NotSettled, or NotReady."""
    if call.state != CallState.SETTLED:
        raise NotSettled(details={"status": STATUS[call.state]})
    return receipt_keyring.sign(_claims(call, owner, seals.covering(call), now))


def _claims(call: Call, owner: Owner, seal: Seal | None, now: datetime) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "iss": settings.GATEWAY_BASE_URL,
        "sub": owner[1],
        "jti": call.id,
        "iat": int(now.timestamp()),
        "route": call.route,
        "model": call.model,
        "status": STATUS[call.state],
        "request_sha256": bytes(call.body_sha256).hex() if call.body_sha256 else None,
        "hold_microusd": call.hold_microusd,
        "charge_microusd": call.charge_microusd,
        "components": render_components(call),
        "settled_at": rfc3339(call.usage_record.settled_at),
    }
    if seal is not None:
        claims["seal"] = {"number": seal.id, "hash": bytes(seal.chain).hex()}
    return claims
