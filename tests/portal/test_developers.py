"""The page for developers: samples to copy, scopes, and the keys of what is signed in."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import DeviceSession, PublicClient
from accounts.operations import model_names
from accounts.operations.model_names import ModelNames
from tests.factories.organizations import account
from tests.portal.organization_browser import FRAME_QUERIES_MAX
from tests.portal.test_pages import device_of
from tests.portal.test_wallet import text_of

pytestmark = pytest.mark.django_db


def models_are(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(model_names, "_registered", ModelNames(known=tuple, enabled=tuple, callable_now=lambda: names))


def test_asks_a_stranger_to_sign_in() -> None:
    assert Client().get("/developers")["Location"] == "/account/login/?next=/developers"


def test_shows_a_first_request_to_copy(alice: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    models_are(monkeypatch, "speech", "fast")
    page = alice.get("/developers").content.decode()
    assert f"agw login --gateway {settings.GATEWAY_BASE_URL}\n" in page
    assert page.count("&quot;fast&quot;") == 0, "samples are copied as they are"
    assert page.count('"fast"') == 3
    copied = re.findall(r'data-copy="([^"]+)"', page)
    assert [f'<pre class="sample" id="{one}"' in page for one in copied] == [True] * 3
    assert '<a href="/docs">' in page
    assert '<a href="/openapi.json">' in page
    for path in ("/docs", "/openapi.json"):
        assert Client().get(path).status_code == 200


@pytest.mark.parametrize(("names", "model"), [(("speech", "small"), "small"), ((), "fast")])
def test_names_a_model_that_there_is(
    alice: Client, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], model: str
) -> None:
    models_are(monkeypatch, *names)
    page = alice.get("/developers").content.decode()
    assert page.count(f'"{model}"') == 3
    assert ("No model can be called at the moment." in page) == (names == ())


def test_shows_scopes_and_ones_own_keys(alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    models_are(monkeypatch, "fast")
    PublicClient.objects.create(client_id="agw", name="Command line (agw)")
    for who, key in (("alice", "a"), ("bob", "b")):
        device = device_of(account(who))
        DeviceSession.objects.filter(pk=device.pk).update(jkt=key * 43, client_id="agw")
    words = text_of(alice.get("/developers"))
    assert "infer:fast Use the model “fast”, paid from your wallet." in words
    assert "wallet:read See your credits and balance" in words
    assert re.search(rf"Laptop Command line \(agw\), last used [^.]+ {'a' * 43}", words)
    assert "b" * 43 not in words


def test_takes_few_statements(
    alice: Client, django_assert_max_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    models_are(monkeypatch, "fast")
    for number in range(20):
        device_of(account("alice"), f"Laptop {number}")
    with django_assert_max_num_queries(FRAME_QUERIES_MAX + 5):
        alice.get("/developers")
