"""A whole gateway as a new user starts it: the demo configuration, and the demo's product signed in."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from account_gateway_client import Gateway, ProductKey, ProductServer
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.gateways import ForkedGateway

ISSUER = "https://demo.studio.example"
ALICE = "did:web:demo.studio.example:alice"


class DemoGateway(ForkedGateway):
    """A running gateway, its product's server, people signed in by it, and its demo's output."""

    tour = ""

    def product(self) -> ProductServer:
        """Return the demo's product, whose key the demo stored in the data directory."""
        key = ProductKey.load(self.data_dir / "demo-product.pem")
        return ProductServer(self.base_url, issuer=ISSUER, product="studio", key=key, timeout_seconds=PATIENCE_SECONDS)

    def sign_in(self, *capabilities: str, did: str = ALICE) -> Gateway:
        """Return a client with these capabilities."""
        return Gateway(self.base_url, self.product().tokens_for(did, capabilities))


UNLIMITED = dict.fromkeys(
    (
        "MANAGEMENT_REQUESTS_PER_ACCOUNT_MINUTE",
        "UNCHARGED_CALLS_PER_ACCOUNT_MINUTE",
        "REPORTS_PER_ACCOUNT_MINUTE",
        "PORTAL_REQUESTS_PER_ACCOUNT_MINUTE",
        "PAGE_REQUESTS_PER_ADDRESS_MINUTE",
        "REFUSED_WEBHOOKS_PER_ADDRESS_MINUTE",
    ),
    "1000000",
)
"""One person at one address makes most of its requests."""


@contextmanager
def running_demo(**settings: str) -> Iterator[DemoGateway]:
    """Start one and run its demo once, so that the demo's product and credit exist."""
    with DemoGateway(settings=settings) as demo:
        eventually(lambda: demo.health() == 200)  # the demo waits a few seconds for its first answer
        completed = demo.manage("demo")
        assert completed.returncode == 0, completed.stdout + completed.stderr + demo.log
        demo.tour = completed.stdout
        yield demo


@pytest.fixture(scope="session")
def demo_gateway() -> Iterator[DemoGateway]:
    """Start one for the session."""
    with running_demo(ARE_JOBS_SOON="false", **UNLIMITED) as demo:
        yield demo
