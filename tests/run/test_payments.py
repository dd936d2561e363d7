"""`PAYMENTS=demo make run`: money can be added without a payment provider's account."""

import pytest
import requests

from gateway.run.errors import StartError
from gateway.run.options import Options
from tests.support.concurrency import eventually
from tests.support.demo_gateway import running_demo

TOP_UP_MICROUSD = 5_000_000


def test_money_is_added_and_the_payment_is_known_after_a_restart() -> None:
    with running_demo(PAYMENTS="demo") as gateway:
        assert "  payments   simulated: Add money in the portal costs nothing" in gateway.stdout.splitlines()
        alice = gateway.sign_in("billing:checkout", "wallet:read")
        before = alice.wallet()["balanceMicrousd"]
        page = alice.checkout(TOP_UP_MICROUSD)["url"]
        assert "Pay $5.00" in requests.get(page, timeout=30).text
        assert requests.post(page, timeout=30, allow_redirects=False).status_code == 303
        eventually(lambda: alice.wallet()["balanceMicrousd"] == before + TOP_UP_MICROUSD)
        assert gateway.stop() == 0
        gateway.start().wait_until_ready()
        eventually(lambda: "This checkout is complete" in text_of(page))


def text_of(page: str) -> str:
    """Return a page's text, none while its server starts."""
    try:
        return requests.get(page, timeout=30).text
    except requests.ConnectionError:
        return ""


@pytest.mark.parametrize(
    "environment",
    [{"PAYMENTS": "yes"}, {"PAYMENTS": "demo", "STRIPE_SECRET_KEY": "sk_test_x"}],
    ids=["another value", "a provider as well"],
)
def test_is_refused_beside_a_provider_and_for_another_value(environment: dict[str, str]) -> None:
    with pytest.raises(StartError) as refused:
        Options.read(environment)
    assert str(refused.value) == "PAYMENTS can only be demo, outside production and without STRIPE_SECRET_KEY."
