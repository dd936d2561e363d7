"""The signature and the time of Stripe's webhooks."""

import time
from collections.abc import Sequence

import stripe

from billing.adapters.base import SignatureInvalid

TOLERANCE_SECONDS = stripe.Webhook.DEFAULT_TOLERANCE


def verify(payload: bytes, signature: str, secrets: Sequence[str]) -> None:
    """Check that one of the secrets signed the payload, at a time at most 5 minutes from ours, before or after.

    An event of the future could be repeated until its time is past. Raises SignatureInvalid.
    """
    if not any(_is_signed(payload, signature, secret) for secret in secrets):
        raise SignatureInvalid("no valid signature, or too old")
    # The library refuses what is too old. The first time of several is the one that is signed.
    stated = next(item for item in signature.split(",") if item.startswith("t="))
    if int(stated.split("=")[1]) > time.time() + TOLERANCE_SECONDS:
        raise SignatureInvalid("its time is in the future")


def _is_signed(payload: bytes, signature: str, secret: str) -> bool:
    try:
        stripe.WebhookSignature.verify_header(payload, signature, secret, TOLERANCE_SECONDS)
    except (stripe.SignatureVerificationError, TypeError, ValueError):  # the latter two: not ASCII, not UTF-8
        return False
    return True
