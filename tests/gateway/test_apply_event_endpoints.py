"""The section event_endpoints of the configuration file."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from gateway.core.events.models import Endpoint, Subscription
from gateway.core.events.operations import endpoints
from tests.gateway.config_files import apply_text
from tests.support.event_receiver import SECRET

pytestmark = pytest.mark.django_db

OTHER = "whsec_" + "A" * 32
WHOLE = """\
products:
  - {slug: studio, name: Studio}
  - {slug: courier, name: Courier}
event_endpoints:
  - {name: studio, product: studio, url: "https://studio.example/hooks", secret: {env: STUDIO_EVENTS_SECRET}, types: ["usage.settled", "budget.*"]}
  - {name: courier, product: courier, url: "https://courier.example/hooks", secret: {env: STUDIO_EVENTS_SECRET}, types: ["seat.assigned"], enabled: false}
"""


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_EVENTS_SECRET", SECRET)


def subscribed() -> set[tuple[str, str]]:
    return set(Subscription.objects.values_list("product", "type"))


def test_the_section_sets_its_rows(tmp_path: Path) -> None:
    printed = apply_text(tmp_path, WHOLE).out
    courier, studio = Endpoint.objects.order_by("name")
    assert (studio.product, studio.url, studio.secret) == ("studio", "https://studio.example/hooks", SECRET)
    assert (studio.types, studio.enabled, studio.previous_secret) == (["usage.settled", "budget.*"], True, None)
    assert (courier.product, courier.enabled) == ("courier", False)
    assert subscribed() == {("studio", "usage.settled"), ("studio", "budget.threshold")}
    assert SECRET not in printed
    assert apply_text(tmp_path, WHOLE).summary == "gateway.yaml applied: 4 unchanged."


def test_another_secret_begins_a_rotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_text(tmp_path, WHOLE)
    monkeypatch.setenv("STUDIO_EVENTS_SECRET", OTHER)
    printed = apply_text(tmp_path, WHOLE).out
    studio = Endpoint.objects.get(name="studio")
    assert (studio.secret, studio.previous_secret) == (OTHER, SECRET)
    assert studio.previous_secret_until is not None
    until = studio.previous_secret_until
    assert apply_text(tmp_path, WHOLE).summary == "gateway.yaml applied: 4 unchanged."
    assert Endpoint.objects.get(name="studio").previous_secret_until == until
    assert not {secret for secret in (SECRET, OTHER) if secret in printed}


def test_a_row_can_disable_and_enable(tmp_path: Path) -> None:
    apply_text(tmp_path, WHOLE)
    studio = Endpoint.objects.get(name="studio")
    Endpoint.objects.update(failing_since=timezone.now() - timedelta(days=1))
    endpoints.disable(studio.pk, reason="Gone.")
    apply_text(tmp_path, WHOLE)
    assert not Endpoint.objects.get(name="studio").enabled
    apply_text(tmp_path, WHOLE.replace('"budget.*"]}', '"budget.*"], enabled: true}'))
    studio = Endpoint.objects.get(name="studio")
    assert (studio.enabled, studio.disabled_reason, studio.failing_since) == (True, "", None)
    assert ("studio", "usage.settled") in subscribed()


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        ("product: studio, url", "product: nothing, url", "product", "there is no product 'nothing'"),
        ('"budget.*"', '"budgets.*"', "types[1]", "there is no type of events 'budgets.*'"),
        ('"budget.*"', '"payment.failed"', "types[1]", "there is no type of events 'payment.failed'"),
        ('"budget.*"', '"*"', "types[1]", "there is no type of events '*'"),
        ('["usage.settled", "budget.*"]', "[]", "types", "must not be empty"),
        ("https://studio.example", "http://studio.example", "url", "must be an https:// address of a public host"),
        ("https://studio.example", "https://10.0.0.1", "url", "must be an https:// address of a public host"),
        ("{env: STUDIO_EVENTS_SECRET}", "{env: MISSING}", "secret", "the environment variable MISSING is not set"),
        ("{env: STUDIO_EVENTS_SECRET}", "short", "secret", "must be whsec_ and the base64 of 24 to 64 bytes"),
        ("secret: {env: STUDIO_EVENTS_SECRET}, ", "", "secret", "is required"),
        ("types: [", "kinds: [", "types", "is required"),
    ],
)
def test_what_is_refused(tmp_path: Path, old: str, new: str, path: str, words: str) -> None:
    refused = apply_text(tmp_path, WHOLE.replace(old, new, 1))
    assert any(f"event_endpoints[0].{path}" in one and words in one for one in refused.problems), refused.problems
    assert not Endpoint.objects.exists()


def test_an_endpoint_never_changes_its_product(tmp_path: Path) -> None:
    """What is due for it would go to another product's server."""
    apply_text(tmp_path, WHOLE)
    refused = apply_text(tmp_path, WHOLE.replace("product: studio, url", "product: courier, url"))
    assert any("event_endpoints[0].product" in one and "never changes" in one for one in refused.problems)
    assert Endpoint.objects.get(name="studio").product == "studio"


def test_loopback_is_for_development_alone(tmp_path: Path, settings: object) -> None:
    text = WHOLE.replace("https://studio.example", "http://127.0.0.1:9000")
    settings.EVENTS_ON_LOOPBACK = False  # type: ignore[attr-defined]
    assert apply_text(tmp_path, text).problems
    settings.EVENTS_ON_LOOPBACK = True  # type: ignore[attr-defined]
    apply_text(tmp_path, text)
    assert Endpoint.objects.get(name="studio").url == "http://127.0.0.1:9000/hooks"
