"""POST /v1/billing/checkout: one transaction a key, one session a transaction, whatever breaks in between."""

from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone
from pytest_django import Settings

from billing.models import Checkout, ProviderEvent
from billing.operations import checkouts
from tests.billing.payments.payer import USD, Payer, reconcile, status
from tests.factories.proofs import mint_token
from tests.support.concurrency import at_once, count, eventually
from tests.support.stripe import FakeStripe

CREATE = "/v1/checkout/sessions"


def stored(payer: Payer) -> list[Checkout]:
    return list(Checkout.objects.filter(owner_key=payer.owner[1]))


def error(answer: httpx.Response) -> tuple[int, str, str | None]:
    body = answer.json()["error"]
    return answer.status_code, body["code"], body["param"]


def test_gives_the_page_to_pay_on(payer: Payer, provider: FakeStripe) -> None:
    answer = payer.ask(12_340_000, key="one")
    [session] = provider.sessions
    [checkout] = stored(payer)
    assert answer.status_code == 201
    assert answer.json() == {"provider": "stripe", "transactionId": checkout.id, "url": session["url"]}
    assert checkout.id.startswith("txn_")
    assert answer.headers["Cache-Control"] == "no-store"
    assert (checkout.status, checkout.amount_microusd, checkout.is_live) == ("open", 12_340_000, False)
    assert checkout.expires_at is not None
    assert payer.money == (0, 0, 0)


def test_asks_the_provider_for_exactly_this_amount(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin(12_340_000)
    [session] = provider.sessions
    [request] = provider.requests
    assert (session["mode"], session["amount_total"], session["currency"]) == ("payment", 1234, "usd")
    assert (session["client_reference_id"], session["metadata"]) == (checkout.id, {"transaction_id": checkout.id})
    assert session["success_url"].startswith("https://gateway.example/")
    assert request.idempotency_key == checkout.id
    paid = provider.pay(session["id"])
    assert provider.get(paid["payment_intent"])["metadata"] == {"transaction_id": checkout.id}


def test_the_same_request_is_the_same_transaction(payer: Payer, provider: FakeStripe) -> None:
    first, second = payer.ask(key="one"), payer.ask(key="one")
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert len(provider.sessions) == 1


def test_it_stays_so_once_it_is_paid(payer: Payer, provider: FakeStripe) -> None:
    first = payer.ask(key="one")
    provider.pay(provider.sessions[0]["id"])
    assert payer.ask(key="one").json() == first.json()
    assert payer.money == (5 * USD, 0, 0)
    assert len(provider.sessions) == 1


def test_another_request_under_the_same_key_is_refused(payer: Payer, provider: FakeStripe) -> None:
    payer.ask(5 * USD, key="one")
    assert error(payer.ask(6 * USD, key="one")) == (422, "idempotency_key_reused", "idempotencyKey")
    assert [checkout.amount_microusd for checkout in stored(payer)] == [5 * USD]
    assert len(provider.sessions) == 1


def test_another_owner_has_keys_of_its_own(payer: Payer, provider: FakeStripe) -> None:
    other = Payer(payer.origin, provider)
    assert payer.ask(5 * USD, key="one").json() != other.ask(6 * USD, key="one").json()
    other.close()


def test_one_owner_has_only_so_many_unpaid_ones(
    payer: Payer, provider: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkouts, "OPEN_CHECKOUTS_MAX", 3)
    first = payer.begin()
    assert [payer.ask(key=f"key {number}").status_code for number in range(2)] == [201, 201]
    refused = payer.ask()
    assert error(refused) == (429, "rate_limited", None)
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= 3600
    limit = {"scope": "account", "limit": "unpaid_checkouts", "remaining": 0, "retryAfterSeconds": wait}
    assert refused.json()["error"]["details"] == limit
    assert len(stored(payer)) == len(provider.sessions) == 3
    assert payer.ask(key="key 0").status_code == 201  # one of the three, asked for again
    provider.pay(str(first.session_ref))
    assert reconcile()
    assert payer.ask().status_code == 201


def test_many_at_once_stay_within_that_number(payer: Payer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkouts, "OPEN_CHECKOUTS_MAX", 3)

    def begin(number: int) -> Any:
        return checkouts.begin(
            payer.owner,
            kind="top_up",
            amount_microusd=5 * USD,
            product=None,
            idempotency_key=f"key {number}",
            requested_by=payer.owner[1],
            now=timezone.now(),
        )

    results = at_once(*[partial(begin, number) for number in range(8)])
    assert count(results, "rate_limited") == 5
    assert len(stored(payer)) == 3


def test_two_at_once_are_one_transaction(payer: Payer, provider: FakeStripe) -> None:
    provider.script(path=CREATE, delay_seconds=0.2)
    headers = [payer.signer.headers("POST", f"https://gateway.example{payer.path}", payer.token) for _ in range(4)]
    body = {"amountMicros": 5 * USD, "idempotencyKey": "one"}
    ask = partial(httpx.post, payer.origin + payer.path, json=body, timeout=60)
    answers = at_once(*(partial(ask, headers=proof) for proof in headers))
    [checkout] = stored(payer)
    [session] = provider.sessions
    good = {"provider": "stripe", "transactionId": checkout.id, "url": session["url"]}
    # The provider may tell one that another is still being worked for; that one asks again and has the same.
    assert {answer.status_code for answer in answers} <= {201, 503}
    assert all(answer.json() == good for answer in answers if answer.status_code == 201)
    assert any(answer.status_code == 201 for answer in answers)
    assert payer.ask(key="one").json() == good


def test_a_crash_before_the_providers_request_loses_nothing(payer: Payer, provider: FakeStripe) -> None:
    begun, is_new = checkouts.begin(
        payer.owner,
        kind="top_up",
        amount_microusd=5 * USD,
        product=None,
        idempotency_key="one",
        requested_by=payer.owner[1],
        now=timezone.now(),
    )
    assert is_new
    assert (begun.status, provider.requests) == ("creating", [])
    assert payer.ask(key="one").json()["transactionId"] == begun.id
    assert status(begun) == "open"


@pytest.mark.parametrize(("preset", "times"), [("drop-answer", 2), ("error-after-work", 2), ("garbage", 1)])
def test_a_session_whose_answer_was_lost_is_found_again(
    payer: Payer, provider: FakeStripe, preset: str, times: int
) -> None:
    provider.script(preset, path=CREATE, times=times)
    assert error(payer.ask(key="one")) == (503, "integration_unavailable", None)
    [checkout] = stored(payer)
    assert (checkout.status, checkout.url) == ("creating", None)
    again = payer.ask(key="one")
    [session] = provider.sessions
    assert again.json() == {"provider": "stripe", "transactionId": checkout.id, "url": session["url"]}


def test_a_single_lost_answer_is_not_even_noticed(payer: Payer, provider: FakeStripe) -> None:
    provider.script("drop-answer", path=CREATE)
    assert payer.ask().status_code == 201
    assert len(provider.sessions) == 1


@pytest.mark.parametrize(
    "preset", ["array", "drop-request", "empty", "error", "forbidden", "html", "rate-limited", "unauthorized"]
)
def test_a_failed_request_to_the_provider_can_be_repeated(payer: Payer, provider: FakeStripe, preset: str) -> None:
    provider.script(preset, path=CREATE, times=2)
    answer = payer.ask(key="one")
    assert error(answer) == (503, "integration_unavailable", None)
    assert answer.headers["Retry-After"] == "5"
    assert "standin" not in answer.text
    assert "internal" not in answer.text
    provider.api.scripts.clear()  # not every failure is tried twice
    assert payer.ask(key="one").json()["transactionId"] == stored(payer)[0].id
    assert len(provider.sessions) == 1


def test_an_error_that_the_provider_keeps_ends_with_another_key(payer: Payer, provider: FakeStripe) -> None:
    provider.script("error-kept", path=CREATE)
    assert error(payer.ask(key="one"))[0] == 503
    assert error(payer.ask(key="one"))[0] == 503
    assert payer.ask(key="two").status_code == 201
    assert sorted(checkout.status for checkout in stored(payer)) == ["creating", "open"]


def test_a_provider_that_is_silent_is_not_waited_for_long(
    payer: Payer, provider: FakeStripe, settings: Settings
) -> None:
    settings.STRIPE_TIMEOUT_SECONDS = 0.2
    provider.script(path=CREATE, times=2, delay_seconds=1.0)
    assert error(payer.ask(key="one")) == (503, "integration_unavailable", None)
    eventually(lambda: provider.requests[0].status)  # until then the key is in use there
    settings.STRIPE_TIMEOUT_SECONDS = 30.0
    assert payer.ask(key="one").status_code == 201
    assert len(provider.sessions) == 1


class TestRefusals:
    """What is checked before anything is asked or stored."""

    @pytest.mark.parametrize(
        ("change", "param"),
        [
            ({"amountMicros": None}, "amountMicros"),
            ({"amountMicros": "5000000"}, "amountMicros"),
            ({"amountMicros": 5_000_000.5}, "amountMicros"),
            ({"amountMicros": True}, "amountMicros"),
            ({"amountMicros": 5_000_001}, "amountMicros"),
            ({"amountMicros": 5_009_999}, "amountMicros"),
            ({"amountMicros": 0}, "amountMicros"),
            ({"amountMicros": -5_000_000}, "amountMicros"),
            ({"amountMicros": 990_000}, "amountMicros"),
            ({"amountMicros": 10_000_010_000}, "amountMicros"),
            ({"amountMicros": 10**18}, "amountMicros"),
            ({"idempotencyKey": None}, "idempotencyKey"),
            ({"idempotencyKey": ""}, "idempotencyKey"),
            ({"idempotencyKey": "x" * 256}, "idempotencyKey"),
            ({"idempotencyKey": "ключ"}, "idempotencyKey"),
            ({"idempotencyKey": "a\nb"}, "idempotencyKey"),
            ({"idempotencyKey": 7}, "idempotencyKey"),
            ({"product": "studio"}, "product"),
            ({"kind": "top_up"}, "kind"),
            ({"account": "did:web:somebody.example"}, "account"),
        ],
    )
    def test_a_bad_body_is_named(self, payer: Payer, provider: FakeStripe, change: dict[str, Any], param: str) -> None:
        body = {"amountMicros": 5 * USD, "idempotencyKey": "one", **change}
        assert error(payer.post(body)) == (400, "invalid_request", param)
        assert (stored(payer), provider.requests) == ([], [])

    @pytest.mark.parametrize("name", ["amountMicros", "idempotencyKey"])
    def test_a_missing_member_is_named(self, payer: Payer, name: str) -> None:
        body = {"amountMicros": 5 * USD, "idempotencyKey": "one"}
        del body[name]
        assert error(payer.post(body)) == (400, "invalid_request", name)

    @pytest.mark.parametrize("amount", [1_000_000, 1_010_000, 10_000_000_000])
    def test_the_bounds_are_within(self, payer: Payer, amount: int) -> None:
        assert payer.begin(amount).amount_microusd == amount

    @pytest.mark.parametrize("key", [" ", "a b", "~" * 255])
    def test_keys_are_taken_as_they_are(self, payer: Payer, key: str) -> None:
        assert payer.begin(key=key).idempotency_key == key

    def test_without_a_provider_nothing_is_stored(self, payer: Payer, settings: Settings) -> None:
        settings.STRIPE_SECRET_KEY = ""
        assert error(payer.ask()) == (503, "integration_unavailable", None)
        assert error(payer.ask(7)) == (400, "invalid_request", "amountMicros")
        payer.token = mint_token(payer.owner[1], ("wallet:read",), payer.signer)
        assert error(payer.ask()) == (403, "insufficient_scope", None)
        assert stored(payer) == []

    def test_a_token_is_needed(self, payer: Payer) -> None:
        assert payer.client.post(payer.origin + payer.path, json={}).status_code == 401
        assert not ProviderEvent.objects.filter(handled_at=None).exists()
