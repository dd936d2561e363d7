"""Reads the responses of the vendor Cohere that are common to its routes."""

from dataclasses import replace

from inference.adapters.exchange import Refusal

INVALID_TOKEN = 498
"""The vendor's own status for an invalid API key."""


def with_common_status(refusal: Refusal) -> Refusal:
    """Return a refusal with the status that other vendors use for it."""
    return replace(refusal, status=401) if refusal.status == INVALID_TOKEN else refusal
