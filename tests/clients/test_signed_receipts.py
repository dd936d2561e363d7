"""Receipts are verified offline: what is signed, by whom, and that it adds up."""

from typing import Any

import pytest

from account_gateway_client import Gateway, GatewayUnreachable, InvalidReceipt, ProductKey, verify_receipt
from account_gateway_client.keys import base64url, compact_json
from tests.support.upstream import closed_port

ISSUER = "https://gateway.example"
KEY = ProductKey.generate()
KEYS = KEY.public_jwks()
HEADER = {"typ": "receipt+jwt", "kid": KEY.kid}


def component(name: str, quantity: int | None, price: str | None, amount: str) -> dict[str, Any]:
    return {"component": name, "quantity": quantity, "unitPriceMicrousd": price, "amountMicrousd": amount}


CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "sub": "did:web:studio.example:alice",
    "jti": "use_1",
    "iat": 1_790_000_000,
    "status": "settled",
    "hold_microusd": 1000,
    "charge_microusd": 1000,
    "components": [
        component("input_token", 493, "2.50", "1232.500000"),
        component("output_token", 3, "0.000001", "0.000003"),
        component("cap", None, None, "-232.500003"),
    ],
}


def signed(header: dict[str, Any] | None = None, **claims: Any) -> str:
    return KEY.sign_jwt({**HEADER, **(header or {})}, {**CLAIMS, **claims})


def verify(receipt: str, keys: Any = KEYS) -> dict[str, Any]:
    return verify_receipt(receipt, keys, issuer=ISSUER)


def test_a_receipt_gives_its_claims() -> None:
    assert verify(signed()) == CLAIMS
    assert verify_receipt(signed(), KEYS, issuer=f"{ISSUER}/") == CLAIMS


@pytest.mark.parametrize(
    ("charge", "amounts"),
    [
        (0, []),
        (1, ["0.000001"]),
        (1, ["0.5", "0.5"]),
        (2, ["0.500000", "0.500001"]),
        (0, ["-0.999999"]),
        (10**9, ["1000000000.000000"]),
    ],
)
def test_the_sum_is_exact_and_rounded_up(charge: int, amounts: list[str]) -> None:
    components = [component("input_token", 1, None, amount) for amount in amounts]
    made = signed(charge_microusd=charge, hold_microusd=10**9, components=components)
    assert verify(made)["charge_microusd"] == charge
    with pytest.raises(InvalidReceipt, match="do not come to the charge"):
        verify(signed(charge_microusd=charge + 1, hold_microusd=10**9, components=components))


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"charge_microusd": 999}, "do not come to the charge of 999"),
        ({"hold_microusd": 999}, "not within the hold of 999"),
        ({"charge_microusd": "1000"}, "lacks an amount"),
        ({"charge_microusd": True}, "lacks an amount"),
        ({"components": None}, "lacks an amount"),
        ({"components": ["x"]}, "not an object"),
        ({"components": [component("image", 2, "500", "999.000000")]}, "the amount of image is not"),
        ({"components": [component("image", None, "1000", "1000.000000")]}, "the amount of image is not"),
        ({"components": [component("image", 1, "1e3", "1000.000000")]}, "'1e3' is not an exact amount"),
        ({"components": [component("image", 1, None, "1000.0000000")]}, "is not an exact amount"),
        ({"components": [component("image", 1, None, 1000)]}, "1000 is not an exact amount"),  # type: ignore[arg-type]
        ({"iss": "https://other.example"}, "issued by https://other.example, not by"),
    ],
)
def test_claims_that_do_not_hold_are_refused(claims: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidReceipt, match=reason):
        verify(signed(**claims))


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"typ": "at+jwt"}, "type is not"),
        ({"typ": None}, "type is not"),
        ({"crit": ["b64"]}, "not signed with ES256"),
        ({"kid": "another"}, "key 'another' is not among"),
        ({"kid": "\ud800\x1b"}, r"key '\\ud800\\x1b' is not among"),
        ({"kid": None}, "key None is not among"),
    ],
)
def test_another_kind_of_token_is_refused(header: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidReceipt, match=reason):
        verify(signed(header))


def test_what_is_changed_or_signed_by_somebody_else_is_refused() -> None:
    header, claims, signature = signed().split(".")
    cheaper = base64url(compact_json({**CLAIMS, "charge_microusd": 1}))
    none = base64url(compact_json({**HEADER, "alg": "none"}))
    stranger = ProductKey.generate().sign_jwt(HEADER, CLAIMS)
    for receipt, reason in [
        (f"{header}.{cheaper}.{signature}", "does not verify"),
        (stranger, "does not verify"),
        (f"{header}.{claims}.{'A' * 86}", "does not verify"),
        (f"{none}.{claims}.{signature}", "not signed with ES256"),
        (f"{none}.{claims}.", "not signed with ES256"),
        (f"{header}.{claims}.{signature[:-4]}", "wrong length"),
        (f"{header}.{claims}.", "not base64url"),
        (f"{header}.{claims}.{signature}=", "not base64url"),
        (f"{header}.{claims}", "not a compact JWS"),
        (f"{base64url(b'[]')}.{claims}.{signature}", "not made of JSON objects"),
        (f"{base64url(b'[' * 100_000)}.{claims}.{signature}", "not made of JSON objects"),
        (f"{header}.{base64url(b'[' * 100_000)}.{signature}", "not made of JSON objects"),
        ("", "not a compact JWS"),
    ]:
        with pytest.raises(InvalidReceipt, match=reason):
            verify(receipt)


@pytest.mark.parametrize(
    "change", [{"kty": "RSA"}, {"crv": "P-384"}, {"alg": "HS256"}, {"x": "A" * 43}, {"y": ""}, {"x": None}]
)
def test_a_key_for_something_else_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidReceipt):
        verify(signed(), {"keys": [{**KEYS["keys"][0], **change}]})


@pytest.mark.parametrize("keys", [{}, {"keys": None}, {"keys": []}, {"keys": ["x"]}, []])
def test_a_set_without_the_key_is_refused(keys: Any) -> None:
    with pytest.raises(InvalidReceipt, match="not among the keys"):
        verify(signed(), keys)


def test_keys_that_are_given_are_not_fetched(gateway: Gateway) -> None:
    offline = Gateway(f"http://127.0.0.1:{closed_port()}", gateway.signer.tokens)
    with pytest.raises(InvalidReceipt, match="not by http://127"):
        offline.verify_receipt(signed(), KEYS)
    with pytest.raises(GatewayUnreachable):
        offline.verify_receipt(signed())
