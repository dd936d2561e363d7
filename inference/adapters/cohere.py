"""Reads what the vendor Cohere answers, which is the same on each of its routes."""

from dataclasses import replace

from inference.adapters.exchange import Refusal

INVALID_TOKEN = 498
"""The vendor's own status for a key that it does not know."""


def with_common_status(refusal: Refusal) -> Refusal:
    """Return a refusal with the status that other vendors have for it."""
    return replace(refusal, status=401) if refusal.status == INVALID_TOKEN else refusal
