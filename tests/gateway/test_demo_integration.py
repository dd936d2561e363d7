"""The product that the demo speaks for: made once, on this machine, and never in production."""

import stat
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import override_settings

from accounts.models import Account, Integration, Product
from accounts.rules import jwk
from billing.models import CreditLot, Wallet
from gateway.config.demo_integration import ACCOUNT, ISSUER, DemoIntegration, ensure_demo_integration
from tests.support.concurrency import at_once

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def made(folder: Path) -> DemoIntegration:
    try:
        return ensure_demo_integration(now=NOW, data_dir=folder)
    finally:
        if not connection.in_atomic_block:
            connection.close()


@pytest.mark.django_db
def test_key_integration_and_credit_are_made_once(tmp_path: Path) -> None:
    first, second = made(tmp_path), made(tmp_path)

    assert {verb for verb, _ in first.report} == {"created"}
    assert {verb for verb, _ in second.report} == {"unchanged"}
    assert (first.issuer, first.account, first.product) == (ISSUER, ACCOUNT, "studio")
    integration = Integration.objects.get()
    assert (integration.issuer, integration.audience) == (ISSUER, "https://gateway.example")
    assert "infer:*" in integration.capabilities
    assert [key["kid"] for key in integration.jwks["keys"]] == [first.kid] == [second.kid]
    assert CreditLot.objects.values_list("wallet__owner_key", "remaining_microusd").get() == (ACCOUNT, 5_000_000)
    assert Product.objects.get().name == "Studio"


@pytest.mark.django_db
def test_the_private_key_fits_and_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    demo = made(tmp_path)
    assert stat.S_IMODE(demo.key_file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["demo-product.pem"]
    key = load_pem_private_key(demo.key_file.read_bytes(), None)
    assert jwk.of_public_key(key.public_key()).thumbprint == demo.kid  # type: ignore[arg-type]


@pytest.mark.django_db
def test_a_product_that_is_configured_keeps_its_name_and_price(tmp_path: Path) -> None:
    Product.objects.create(slug="studio", name="Atelier", seat_price_microusd=7)
    made(tmp_path)
    assert Product.objects.values_list("name", "seat_price_microusd").get() == ("Atelier", 7)


@pytest.mark.django_db
@override_settings(DEMO_ADAPTER=False)
def test_it_never_exists_in_production(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="does not run in production"):
        made(tmp_path)
    assert not list(tmp_path.iterdir())
    assert not Integration.objects.exists()
    assert not Account.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_several_makers_at_once_end_with_one_key(tmp_path: Path) -> None:
    made_keys = {demo.kid for demo in at_once(*[partial(made, tmp_path)] * 4)}
    assert len(made_keys) == 1
    assert [key["kid"] for key in Integration.objects.get().jwks["keys"]] == list(made_keys)
    assert Wallet.objects.count() == CreditLot.objects.count() == 1
