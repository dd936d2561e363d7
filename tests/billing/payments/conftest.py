"""Payments from outside: a gateway on a real socket, a payment provider on another, and rows that are committed."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from billing.models import Checkout, ProviderEvent
from billing.queries import audit
from tests.billing.payments.payer import Payer
from tests.support.serving import RunningGateway
from tests.support.stage_fixtures import db, gateway  # noqa: F401
from tests.support.stripe import FakeStripe
from tests.support.stripe.fixtures import provider, running_provider  # noqa: F401


@pytest.fixture
def payer(gateway: RunningGateway, provider: FakeStripe, db: None) -> Iterator[Payer]:  # noqa: F811
    """An account that pays; webhooks reach the gateway. The ledger is audited when the test is over."""
    Checkout.objects.update(next_check_at=None)
    ProviderEvent.objects.filter(handled_at=None).update(handled_at=timezone.now())
    provider.webhooks.send_to(f"{gateway.origin}/webhooks/stripe")
    payer = Payer(gateway.origin, provider)
    yield payer
    payer.close()
    assert audit.findings() == []
