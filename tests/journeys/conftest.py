"""One gateway for all journeys: starting it is what costs."""

import contextlib
from collections.abc import Callable, Iterator

import pytest

from tests.journeys.caller import Caller, Key
from tests.journeys.configuration import configuration, configured_gateway
from tests.support.gateways import GatewayProcess
from tests.support.stripe import FakeStripe
from tests.support.upstream import FakeUpstream
from tests.support.upstream.fixtures import running_upstream, upstream  # noqa: F401

SCOPES = (
    "wallet:read",
    "usage:read",
    "billing:checkout",
    "infer:fast",
    "infer:embedding",
    "infer:realtime",
    "infer:persona",
)
CREDITS = {"alice": 5_000_000, "bob": 500_000, "carol": 1_000, "dave": 2_000_000, "erin": 2_000_000}


@pytest.fixture(scope="session")
def bank() -> Iterator[FakeStripe]:
    """Run the payment provider that the gateway is configured for."""
    with FakeStripe() as stripe:
        yield stripe


@pytest.fixture(scope="session")
def product_key() -> Key:
    return Key()


@pytest.fixture(scope="session")
def gateway(running_upstream: FakeUpstream, bank: FakeStripe, product_key: Key) -> Iterator[GatewayProcess]:  # noqa: F811
    payments = {
        "STRIPE_SECRET_KEY": bank.secret_key,
        "STRIPE_WEBHOOK_SECRET": bank.webhooks.secret,
        "STRIPE_API_BASE": bank.origin,
    }
    with configured_gateway(configuration(running_upstream, product_key, CREDITS), payments) as gateway:
        yield gateway


@pytest.fixture
def signed_in(gateway: GatewayProcess, product_key: Key) -> Iterator[Callable[[str], Caller]]:
    """Sign an account in by its name, with every capability that these journeys use."""
    with contextlib.ExitStack() as open_callers:

        def sign_in(name: str) -> Caller:
            caller = open_callers.enter_context(Caller(gateway.base_url, product_key, name))
            return caller.sign_in(*SCOPES)

        yield sign_in
