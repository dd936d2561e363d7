"""Returns the configured payment provider."""

from functools import lru_cache

from django.conf import settings

from billing.adapters.base import PaymentProvider
from gateway.core.contract.errors import IntegrationUnavailable

RETRY_AFTER_SECONDS = 5


def provider() -> PaymentProvider | None:
    """Return the configured provider, or None. Its library is loaded at first use."""
    if not settings.STRIPE_SECRET_KEY:
        return None
    return _stripe(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE, settings.STRIPE_TIMEOUT_SECONDS)


def require() -> PaymentProvider:
    """Return the configured provider, or raise IntegrationUnavailable."""
    found = provider()
    if found is None:
        raise IntegrationUnavailable
    return found


def unavailable(words: str) -> IntegrationUnavailable:
    """Build the error for a provider that is not responding."""
    return IntegrationUnavailable(words, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


@lru_cache(maxsize=8)
def _stripe(key: str, api_base: str, timeout_seconds: float) -> PaymentProvider:
    from billing.adapters.stripe import Stripe

    return Stripe(key, api_base=api_base, timeout_seconds=timeout_seconds)
