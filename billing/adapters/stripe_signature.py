"""Verifies the signature and the time of Stripe's webhooks."""

import time
from collections.abc import Sequence

import stripe

from billing.adapters.base import SignatureInvalid

TOLERANCE_SECONDS = stripe.Webhook.DEFAULT_TOLERANCE


def verify(payload: bytes, signature: str, secrets: Sequence[str]) -> None:
    """Check that one of the secrets signed the payload, within 5 minutes of our clock, before or after.

    An event dated in the future could be replayed until that time has passed. Raises SignatureInvalid.
    """
    if not any(_is_signed(payload, signature, secret) for secret in secrets):
        raise SignatureInvalid("no valid signature, or too old")
    # The library refuses what is too old. If there are several times, the first is the signed one.
    stated = next(item for item in signature.split(",") if item.startswith("t="))
    if int(stated.split("=")[1]) > time.time() + TOLERANCE_SECONDS:
        raise SignatureInvalid("its time is in the future")


def _is_signed(payload: bytes, signature: str, secret: str) -> bool:
    try:
        stripe.WebhookSignature.verify_header(payload, signature, secret, TOLERANCE_SECONDS)
    except (stripe.SignatureVerificationError, TypeError, ValueError):  # the last two: not ASCII, not UTF-8
        return False
    return True
