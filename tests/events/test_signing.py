"""Signatures: what the published library verifies, and what is no secret."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from gateway.core.events.rules.secrets import SECRET_WORDS, key_of, new_secret, signature
from tests.support.event_receiver import SECRET


def headers(secrets: list[str], body: bytes, at: int) -> dict[str, str]:
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(at),
        "webhook-signature": signature(secrets, "evt_1", at, body),
    }


def test_the_example_of_the_specification() -> None:
    signed = signature([SECRET], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(st.binary(min_size=24, max_size=64), st.text())
def test_the_library_verifies_what_is_signed(key: bytes, text: str) -> None:
    secret, body = f"whsec_{base64.b64encode(key).decode()}", f'"{text}"'.encode(errors="replace")
    Webhook(secret).verify(body, headers([secret], body, int(time.time())), json_parse=False)


def test_either_secret_verifies_while_both_sign() -> None:
    old, new, other = new_secret(), new_secret(), new_secret()
    signed = headers([new, old], b"{}", int(time.time()))
    assert Webhook(old).verify(b"{}", signed) == Webhook(new).verify(b"{}", signed) == {}
    with pytest.raises(WebhookVerificationError):
        Webhook(other).verify(b"{}", signed)
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(b"{ }", signed)


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_" + base64.b64encode(b"x" * 23).decode(),
        "whsec_" + base64.b64encode(b"x" * 65).decode(),
        "whsec_" + base64.urlsafe_b64encode(b"\xff" * 32).decode(),
        "whsec_" + base64.b64encode(b"x" * 32).decode()[:-1],
        "whsec_ " + base64.b64encode(b"x" * 32).decode(),
        "whsec_ä" + base64.b64encode(b"x" * 32).decode(),
    ],
)
def test_what_is_no_secret(secret: str) -> None:
    with pytest.raises(ValueError) as refused:
        key_of(secret)
    assert str(refused.value) == SECRET_WORDS


def test_a_new_secret_is_one() -> None:
    assert len(key_of(new_secret())) == 32
    assert new_secret() != new_secret()
