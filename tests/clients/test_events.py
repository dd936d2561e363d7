"""Events are verified: who signed them, when, and that nothing was changed. The oracle is the published library."""

import base64
import hmac
import json
import secrets as randomness
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

import account_gateway_client.event_types as shapes
from account_gateway_client import ClientError, InvalidEvent, verify_event

NOW = 1_790_000_000
SECRET, OTHER = (f"whsec_{base64.b64encode(bytes([number]) * 32).decode()}" for number in (1, 2))
EVENT = {
    "id": "evt_01m8e0krrrx0jkfm39x49mab0t",
    "type": "wallet.low",
    "createdAt": "2026-09-21T14:13:20Z",
    "sequence": 7,
    "data": {"did": "did:web:studio.example:älice", "availableMicrousd": 900_000, "thresholdMicrousd": 1_000_000},
}
BODY = json.dumps(EVENT, ensure_ascii=False, separators=(",", ":")).encode()


def signature(body: bytes = BODY, secret: str = SECRET, at: int = NOW, id_: str = "evt_1") -> str:
    return Webhook(secret).sign(id_, datetime.fromtimestamp(at, UTC), body.decode())


def headers(body: bytes = BODY, *, at: int = NOW, sent: str | None = None) -> dict[str, str]:
    signed = signature(body, at=at) if sent is None else sent
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signed}


def refused(reason: str, body: bytes = BODY, sent: Any = None, secrets: Any = SECRET, now: float = NOW) -> None:
    with pytest.raises(InvalidEvent, match=reason) as error:
        verify_event(body, headers() if sent is None else sent, secrets, now=now)
    assert isinstance(error.value, ClientError)


def test_what_the_published_library_signs_is_verified() -> None:
    assert verify_event(BODY, headers(), SECRET, now=NOW) == EVENT


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()), st.binary(min_size=24, max_size=64))
def test_any_data_and_secret_are_verified_as_the_library_signs_them(data: dict[str, Any], key: bytes) -> None:
    secret = f"whsec_{base64.b64encode(key).decode()}"
    body = json.dumps({**EVENT, "data": data}).encode()
    at = int(datetime.now(UTC).timestamp())
    sent = headers(body, at=at, sent=signature(body, secret, at))
    assert verify_event(body, sent, secret)["data"] == data == Webhook(secret).verify(body, sent)["data"]


@pytest.mark.parametrize("body", [bytearray(BODY), memoryview(BODY)], ids=["bytearray", "memoryview"])
def test_any_bytes_are_a_body(body: Any) -> None:
    assert verify_event(body, headers(), SECRET, now=NOW) == EVENT


@pytest.mark.parametrize("write", [str.lower, str.upper, str.title], ids=["lower", "upper", "title"])
def test_headers_are_in_any_case(write: Any) -> None:
    sent = {write(name): value for name, value in headers().items()}
    assert verify_event(BODY, sent, SECRET, now=NOW) == EVENT


@pytest.mark.parametrize(
    "sent",
    [
        f"{signature(secret=OTHER)} {signature()}",
        f"{signature()} {signature(secret=OTHER)}",
        f"v1a,{'A' * 88} v2,xyz {signature()}",
        f"v1,AAAA v1, v1,%%% , {signature()}",
    ],
    ids=["old secret first", "new secret first", "other versions", "unreadable ones"],
)
def test_one_of_several_signatures_must_match(sent: str) -> None:
    assert verify_event(BODY, headers(sent=sent), SECRET, now=NOW) == EVENT


def test_the_receiver_may_know_the_old_and_the_new_secret() -> None:
    assert verify_event(BODY, headers(), [OTHER, SECRET], now=NOW) == EVENT
    assert verify_event(BODY, headers(), (secret for secret in (SECRET, OTHER)), now=NOW) == EVENT


@pytest.mark.parametrize("offset", [-300, 300])
def test_five_minutes_are_tolerated(offset: int) -> None:
    assert verify_event(BODY, headers(), SECRET, now=NOW + offset) == EVENT


def test_an_older_or_a_later_one_is_refused() -> None:
    refused("signed 301 seconds ago, and 300 are allowed", now=NOW + 301)
    refused("signed 301 seconds ahead", now=NOW - 301)
    with pytest.raises(InvalidEvent, match="signed 11 seconds ago, and 10 are allowed"):
        verify_event(BODY, headers(), SECRET, now=NOW + 11, tolerance_seconds=10)


def test_the_clock_is_this_machines() -> None:
    at = int(datetime.now(UTC).timestamp())
    assert verify_event(BODY, headers(at=at), SECRET) == EVENT
    with pytest.raises(InvalidEvent, match="seconds ago"):
        verify_event(BODY, headers(at=at - 1000), SECRET)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_header_that_is_missing_is_named(name: str) -> None:
    refused(f"the header {name} is missing", sent={key: value for key, value in headers().items() if key != name})
    refused(f"the header {name} is missing", sent={**headers(), name: ""})


@pytest.mark.parametrize("text", ["soon", "-5", "1e9", "1790000000.5", "१७९०००००००", "9" * 13, " 1790000000"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    refused("webhook-timestamp is not a number of seconds", sent={**headers(), "webhook-timestamp": text})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"webhook-id": "evt_2"}, "no signature matches"),
        ({"webhook-timestamp": str(NOW + 1)}, "no signature matches"),
        ({"webhook-signature": "v1,AAAA"}, "no signature matches"),
        ({"webhook-signature": "v1,\ud800\udc80é"}, "no signature matches"),
        ({"webhook-signature": signature().removeprefix("v1,")}, "no signature of version v1"),
        ({"webhook-signature": signature().replace("v1,", "v1a,")}, "no signature of version v1"),
        ({"webhook-id": "evt_\ud800\x00"}, "no signature matches"),
    ],
)
def test_whatever_else_was_signed_is_refused(change: dict[str, str], reason: str) -> None:
    refused(reason, sent={**headers(), **change})


def test_another_secret_or_body_is_refused() -> None:
    refused("the secret is another endpoint's", secrets=OTHER)
    refused("not the bytes that were sent", body=BODY + b"\n")
    written_again = json.dumps(json.loads(BODY)).encode()
    refused("not the bytes that were sent", body=written_again)


@pytest.mark.parametrize("body", [BODY.decode(), EVENT, None], ids=["text", "parsed", "none"])
def test_a_body_that_is_not_raw_is_the_programs_error(body: Any) -> None:
    with pytest.raises(TypeError, match="bytes as they were received"):
        verify_event(body, headers(), SECRET, now=NOW)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_%%%", SECRET.removeprefix("whsec_"), []])
def test_a_secret_that_is_none_is_the_programs_error(secret: Any) -> None:
    with pytest.raises(ValueError, match="secret"):
        verify_event(BODY, headers(), secret, now=NOW)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000], ids=repr)
def test_a_signed_body_that_is_no_object_is_refused(body: bytes) -> None:
    stamped = f"evt_1.{NOW}.".encode() + body
    digest = hmac.digest(base64.b64decode(SECRET.removeprefix("whsec_")), stamped, "sha256")
    refused("no JSON object", body, headers(sent=f"v1,{base64.b64encode(digest).decode()}"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("id", 1), ("type", None), ("createdAt", 5), ("sequence", "7"), ("sequence", True), ("data", [])],
)
def test_a_member_of_another_type_is_named(name: str, value: Any) -> None:
    body = json.dumps({**EVENT, name: value}).encode()
    refused(f"its member {name} is missing or of another type", body, headers(body))


def test_a_type_that_is_not_known_yet_is_an_event_too() -> None:
    body = json.dumps({**EVENT, "type": "wallet.renamed", "more": 1}).encode()
    assert dict(verify_event(body, headers(body), SECRET, now=NOW))["type"] == "wallet.renamed"


def test_a_random_secret_of_each_allowed_length_works() -> None:
    for size in (24, 32, 64):
        secret = f"whsec_{base64.b64encode(randomness.token_bytes(size)).decode()}"
        assert verify_event(BODY, headers(sent=signature(secret=secret)), secret, now=NOW) == EVENT


def test_every_type_of_the_contract_has_a_shape() -> None:
    events = shapes.Event.__args__
    named = {name for event in events for name in event.__annotations__["type"].__args__}
    assert named == {
        "usage.settled",
        "usage.released",
        "usage.reconciling",
        "wallet.credited",
        "wallet.low",
        "wallet.empty",
        "budget.threshold",
        "invoice.issued",
        "invoice.paid",
        "invoice.past_due",
        "membership.created",
        "membership.removed",
        "seat.assigned",
        "seat.revoked",
        "device_session.revoked",
        "test.ping",
    }
