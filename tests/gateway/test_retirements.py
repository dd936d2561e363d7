"""Models that are no longer offered: whoever used one within a month is told, once each, however it was taken away."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Wallet
from billing.models.usage_day import UsageDay, UsageSubject
from gateway.core.events.models import Event
from inference.models import Alias
from tests.factories.billing import Purse
from tests.factories.events import recorded
from tests.gateway.config_files import apply_text
from tests.gateway.operators import address
from tests.gateway.test_admin_models import alias_form

pytestmark = pytest.mark.django_db

DISABLED = "aliases:\n  - {name: fast, enabled: false}\n"
RETIRED = ("model.retired", {"model": "fast"})


def used(purse: Purse, model: str = "fast", days_ago: int = 1) -> None:
    """Note calls of a model, as the roll-up does."""
    purse.pay(5)
    day = timezone.now().date() - timedelta(days=days_ago)
    for actor in ("alice", "bob"):
        subject = UsageSubject.objects.create(
            wallet=Wallet.objects.get(owner_key=purse.key), actor_did=actor, model=model
        )
        UsageDay.objects.create(
            subject=subject,
            closed_on=day,
            begun_on=day,
            calls=1,
            input_tokens=1,
            output_tokens=1,
            charges=1,
            charged_microusd=1,
        )


def retirements() -> list[str]:
    return list(Event.objects.filter(type="model.retired").order_by("id").values_list("owner_key", flat=True))


@pytest.fixture
def users() -> list[Purse]:
    """An organization and an account that used the model yesterday, in the order of owners."""
    purses = [Purse("account", "did:web:b"), Purse("organization", "org_a")]
    for purse in purses:
        used(purse)
    used(Purse("account", "did:web:long_ago"), days_ago=31)
    used(Purse("account", "did:web:other"), "slow")
    return purses


@pytest.fixture
def fast() -> Alias:
    return Alias.objects.create(name="fast", max_output_tokens=10)


@pytest.mark.usefixtures("fast")
def test_a_file_that_disables_a_model(tmp_path: Path, users: list[Purse]) -> None:
    for _ in range(2):
        apply_text(tmp_path, DISABLED)
    assert retirements() == [purse.key for purse in users]
    assert [recorded(purse.key, "model") for purse in users] == [[RETIRED], [RETIRED]]


@pytest.mark.usefixtures("fast", "users")
def test_a_file_that_is_only_checked_or_refused_records_nothing(tmp_path: Path) -> None:
    assert apply_text(tmp_path, DISABLED, "--check").code == 0
    assert apply_text(tmp_path, DISABLED + "upstreams: [{name: x, adapter: none}]\n").code == 1
    assert retirements() == []
    assert Alias.objects.get(name="fast").enabled


def test_a_file_that_disables_what_was_disabled_or_changes_something_else(
    tmp_path: Path, fast: Alias, users: list[Purse]
) -> None:
    apply_text(tmp_path, "aliases:\n  - {name: fast, max_output_tokens: 7}\n")
    Alias.objects.update(enabled=False)
    apply_text(tmp_path, DISABLED)
    assert retirements() == []


@pytest.mark.usefixtures("users")
def test_the_console_disables_and_deletes(fast: Alias, operator: Client) -> None:
    page = address("inference_alias_change", fast.pk)
    form = alias_form(**{"name": "fast", "max_output_tokens": "10", "deployments-TOTAL_FORMS": "0"})
    for _ in range(2):
        assert operator.post(page, form).status_code == 303
    assert not Alias.objects.get().enabled
    assert len(retirements()) == 2
    Alias.objects.update(enabled=True)
    assert operator.post(address("inference_alias_delete", fast.pk), {"post": "yes"}).status_code == 303
    assert not Alias.objects.exists()
    assert len(retirements()) == 4
