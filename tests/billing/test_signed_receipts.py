"""`GET /v1/usage/<usage_id>` and the signed receipt of that call."""

import hashlib
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any

import jwt
import pytest
from django.db import close_old_connections
from django.test import Client
from django.utils import timezone

from accounts.operations import receipt_keys
from accounts.operations.receipt_keyring import receipt_keyring
from billing.models import PriceVersion, Takeover, UsageRecord
from billing.operations import seals
from billing.queries import seals as sealed
from gateway.core.api.times import rfc3339
from tests.factories.accounts import Caller, make_caller
from tests.factories.billing import Purse, release, review, settle
from tests.support.concurrency import at_once

BODY = b'{ "model": "fast" }'
KEYS = "/.well-known/receipt-keys.json"


@pytest.fixture
def caller(db: None) -> Caller:
    return make_caller("usage:read")


@pytest.fixture
def purse(caller: Caller) -> Purse:
    return Purse("account", caller.account.did).pay(100_000_000)


def get(client: Client, caller: Caller, usage_id: str, suffix: str = "") -> Any:
    path = f"/v1/usage/{usage_id}{suffix}"
    return client.get(path, headers=caller.headers("GET", path))


def record_of(client: Client, caller: Caller, usage_id: str) -> dict[str, Any]:
    answer = get(client, caller, usage_id)
    assert answer.status_code == 200, answer.content
    record: dict[str, Any] = answer.json()
    return record


def receipt_of(client: Client, caller: Caller, usage_id: str) -> str:
    answer = get(client, caller, usage_id, "/receipt")
    assert answer.status_code == 200, answer.content
    assert list(answer.json()) == ["receipt"]
    receipt: str = answer.json()["receipt"]
    return receipt


def verified(client: Client, receipt: str) -> dict[str, Any]:
    """Verify a receipt as anyone can, with a stock library."""
    header = jwt.get_unverified_header(receipt)
    assert (header["typ"], header["alg"]) == ("receipt+jwt", "ES256")
    key = jwt.PyJWKSet.from_dict(client.get(KEYS).json())[header["kid"]]
    claims: dict[str, Any] = jwt.decode(receipt, key, ["ES256"], issuer="https://gateway.example")
    return claims


def error_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def rounded_sum(components: list[dict[str, Any]]) -> int:
    amounts = [Decimal(component["amountMicrousd"]) for component in components]
    return int(sum(amounts, Decimal(0)).to_integral_value(ROUND_CEILING))


def component(name: str, quantity: int | None, price: str | None, amount: str) -> dict[str, Any]:
    return {"component": name, "quantity": quantity, "unitPriceMicrousd": price, "amountMicrousd": amount}


def test_a_record_has_the_components_of_its_charge(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400, "k")
    settle(usage_id, 9, quantities={"input_tokens": 30, "cached_input_tokens": 10, "output_tokens": 7})
    record = record_of(client, caller, usage_id)
    [listed] = client.get("/v1/usage", headers=caller.headers("GET", "/v1/usage")).json()["data"]
    assert record == {
        **listed,
        "components": [
            component("input_token", 20, "0.15", "3.000000"),
            component("cached_input_token", 10, "0.15", "1.500000"),
            component("output_token", 7, "0.60", "4.200000"),
        ],
        "sealedAt": None,
    }
    assert rounded_sum(record["components"]) == record["chargedMicrousd"] == 9


def test_a_charge_that_the_hold_capped_ends_with_the_cap(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(100)
    settle(usage_id, 124, quantities={"input_tokens": 823, "output_tokens": 0})
    assert record_of(client, caller, usage_id)["components"] == [
        component("input_token", 823, "0.15", "123.450000"),
        component("cap", None, None, "-23.450000"),
    ]


@pytest.mark.parametrize(
    ("price", "quantities", "charge"),
    [
        ({"image": {"a/b": "40", "c/d": "7.5"}}, {"images": 3}, 23),
        ({"input_kilobyte": "0.5", "request": "2"}, {"input_bytes": 1001}, 3),
        (
            {"input_token": "2", "bands": [{"above_input_tokens": 10, "input_token": "4"}]},
            {"input_tokens": 11, "price_band": 10},
            44,
        ),
        (
            {"input_token": "2", "service_tiers": {"flex": {"input_token": "1.0"}}},
            {"input_tokens": 11, "service_tier": "flex"},
            11,
        ),
        (
            {"input_token": "2", "cache_write_token": "2.5", "cache_write_1h_token": "4"},
            {"input_tokens": 9, "cache_write_tokens": 5, "cache_write_1h_tokens": 2},
            24,
        ),
    ],
)
def test_components_of_every_kind_of_price_explain_the_charge(
    client: Client, caller: Caller, purse: Purse, price: Any, quantities: Any, charge: int
) -> None:
    version = PriceVersion.objects.create(alias="fast", components=price)
    usage_id = purse.call(1000, price_version=version.pk)
    settle(usage_id, charge, quantities=quantities)
    components = record_of(client, caller, usage_id)["components"]
    assert rounded_sum(components) == charge
    for one in components:
        assert Decimal(one["unitPriceMicrousd"]) * one["quantity"] == Decimal(one["amountMicrousd"])
    assert {one["component"] for one in components} <= {*price, "input_token"}


def test_a_call_that_another_model_took_over_has_that_models_prices(
    client: Client, caller: Caller, purse: Purse
) -> None:
    deep = PriceVersion.objects.create(alias="deep", components={"input_token": "3", "output_token": "9"})
    usage_id = purse.call(1000)
    Takeover.objects.create(call_id=usage_id, model="deep", price_version=deep)
    settle(usage_id, 300, quantities={"input_tokens": 100, "output_tokens": 0})
    assert record_of(client, caller, usage_id)["components"] == [component("input_token", 100, "3", "300.000000")]


def test_a_charge_that_the_operator_decided_is_an_adjustment(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400)
    review(usage_id)
    settle(usage_id, 250, basis="operator", resolution="operator", quantities={})
    components = [component("adjustment", None, None, "250.000000")]
    assert record_of(client, caller, usage_id)["components"] == components
    assert verified(client, receipt_of(client, caller, usage_id))["components"] == components


def test_only_a_settled_call_has_components_and_a_receipt(client: Client, caller: Caller, purse: Purse) -> None:
    held, reviewed, released = (purse.call(10) for _ in range(3))
    review(reviewed)
    release(released)
    for usage_id, status in ((held, "held"), (reviewed, "reconciling"), (released, "released")):
        record = record_of(client, caller, usage_id)
        assert (record["status"], record["components"], record["sealedAt"]) == (status, [], None)
        refused = get(client, caller, usage_id, "/receipt")
        assert error_of(refused) == (409, "not_settled")
        assert refused.json()["error"]["details"] == {"status": status}


def test_a_receipt_states_the_call(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400, "k", body_sha256=hashlib.sha256(BODY).hexdigest())
    settle(usage_id, 123)
    before = int(timezone.now().timestamp())
    claims = verified(client, receipt_of(client, caller, usage_id))
    assert before <= claims.pop("iat") <= timezone.now().timestamp()
    assert claims == {
        "iss": "https://gateway.example",
        "sub": caller.account.did,
        "jti": usage_id,
        "route": "chat.completions",
        "model": "fast",
        "status": "settled",
        "request_sha256": hashlib.sha256(BODY).hexdigest(),
        "hold_microusd": 400,
        "charge_microusd": 123,
        "components": record_of(client, caller, usage_id)["components"],
        "settled_at": rfc3339(UsageRecord.objects.get(pk=usage_id).settled_at),
    }


def test_a_call_without_a_recorded_body_says_so(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400)
    settle(usage_id, 0, quantities={"input_tokens": 0})
    claims = verified(client, receipt_of(client, caller, usage_id))
    assert (claims["request_sha256"], claims["charge_microusd"], claims["components"]) == (None, 0, [])


def test_a_seal_is_named_once_it_covers_the_call(client: Client, caller: Caller, purse: Purse) -> None:
    first, second, later = (purse.call(400) for _ in range(3))
    settle(first, 123)
    chain = seals.seal_until(timezone.now())
    settle(second, 5)
    end = timezone.now()
    seals.seal_until(end)
    settle(later, 5, now=end)  # the interval is half-open
    seal = sealed.last()
    assert seal is not None
    claims = [verified(client, receipt_of(client, caller, usage_id)) for usage_id in (first, second, later)]
    assert claims[0]["seal"] == {"number": 1, "hash": chain}
    assert claims[1]["seal"] == {"number": 2, "hash": bytes(seal.chain).hex()}
    assert "seal" not in claims[2]
    assert sealed.has(claims[1]["seal"]["hash"])
    assert record_of(client, caller, second)["sealedAt"] == rfc3339(seal.sealed_at)
    assert record_of(client, caller, later)["sealedAt"] is None


@pytest.mark.parametrize("suffix", ["", "/receipt"])
def test_another_persons_or_an_unknown_call_is_not_found(client: Client, caller: Caller, suffix: str) -> None:
    theirs = Purse("account", make_caller(name="bob").account.did).pay(1000).call(10)
    settle(theirs, 5)
    shared = Purse("organization", "org_acme").pay(1000).call(10, did=caller.account.did)
    settle(shared, 5)
    for usage_id in (theirs, shared, "use_nobody", "9" * 400):
        assert error_of(get(client, caller, usage_id, suffix)) == (404, "not_found")


@pytest.mark.parametrize("suffix", ["", "/receipt"])
def test_its_scope_is_needed_and_nothing_is_changed(client: Client, db: None, suffix: str) -> None:
    other = make_caller("wallet:read")
    usage_id = Purse("account", other.account.did).pay(1000).call(10)
    assert error_of(get(client, other, usage_id, suffix)) == (403, "insufficient_scope")
    path = f"/v1/usage/{usage_id}{suffix}"
    assert client.post(path, headers=other.headers("POST", path)).status_code == 405


@pytest.mark.parametrize("suffix", ["", "/receipt"])
def test_the_database_is_asked_a_fixed_number_of_times(
    client: Client, caller: Caller, purse: Purse, suffix: str, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        settle(purse.call(400), 123)
        seals.seal_until(timezone.now())
    usage_id = purse.call(400)
    settle(usage_id, 123)
    receipt_keyring.current_sync()
    with django_assert_max_num_queries(6):
        assert get(client, caller, usage_id, suffix).status_code == 200


def test_a_changed_receipt_or_another_key_is_refused(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400)
    settle(usage_id, 123)
    receipt = receipt_of(client, caller, usage_id)
    header, _, signature = receipt.split(".")
    cheaper = jwt.encode({"iss": "https://gateway.example", "charge_microusd": 1}, "", algorithm="none").split(".")[1]
    with pytest.raises(jwt.InvalidSignatureError):
        verified(client, f"{header}.{cheaper}.{signature}")
    before = receipt_keyring.current_sync().signing_kid
    receipt_keys.withdraw(before, now=timezone.now())
    receipt_keyring.forget()
    with pytest.raises(KeyError):
        verified(client, receipt)
    again = receipt_of(client, caller, usage_id)
    assert jwt.get_unverified_header(again)["kid"] != before
    assert verified(client, again)["jti"] == usage_id


def test_old_receipts_stay_valid_while_the_keys_rotate(client: Client, caller: Caller, purse: Purse) -> None:
    usage_id = purse.call(400)
    settle(usage_id, 123)
    receipts = []
    for days in range(4):
        receipts.append(receipt_of(client, caller, usage_id))
        receipt_keys.rotate(now=timezone.now() + timedelta(days=days))
        receipts.append(receipt_of(client, caller, usage_id))  # by the key that this process still remembers
        receipt_keyring.forget()
    assert len({jwt.get_unverified_header(receipt)["kid"] for receipt in receipts}) == 4
    assert {verified(client, receipt)["charge_microusd"] for receipt in receipts} == {123}


@pytest.mark.django_db(transaction=True)
def test_fifty_receipts_at_once_while_the_keys_rotate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipt_keyring, "fresh_seconds", 0.0)
    caller = make_caller("usage:read")
    purse = Purse("account", caller.account.did).pay(100_000)
    calls = [purse.call(400) for _ in range(10)]
    for usage_id in calls:
        settle(usage_id, 123)

    def one(number: int) -> str:
        try:
            if number % 10 == 0:
                receipt_keys.rotate(now=timezone.now())
            return receipt_of(Client(), caller, calls[number % 10])
        finally:
            close_old_connections()

    receipts = at_once(*(lambda number=number: one(number) for number in range(50)))
    receipt_keyring.forget()
    claims = [verified(Client(), receipt) for receipt in receipts]
    assert [claim["jti"] for claim in claims] == [calls[number % 10] for number in range(50)]
    assert {claim["charge_microusd"] for claim in claims} == {123}
