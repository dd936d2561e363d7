"""A welcome credit for people who try the example app. Development only."""

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections

from accounts.models import Account
from billing.models import OwnerKind
from billing.operations.credits import grant

WELCOME_MICROUSD = 5_000_000
SOURCE_KIND = "demo_app"


def give(did: str) -> int | None:
    """Grant an account its welcome credit, only once, and return it in micro-USD; None if there is no such account.

    Raises ImproperlyConfigured in production.
    """
    if not settings.DEMO_ADAPTER:
        raise ImproperlyConfigured("Welcome credits are for development only.")
    try:
        if not Account.objects.filter(did=did, is_active=True).exists():
            return None
        grant(OwnerKind.ACCOUNT, did, amount_microusd=WELCOME_MICROUSD, source_kind=SOURCE_KIND, source_key=did)
        return WELCOME_MICROUSD
    finally:
        close_old_connections()
