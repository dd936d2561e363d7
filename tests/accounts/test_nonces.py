"""Nonces of proofs: required by a setting, accepted for a window and the one before."""

import time

import pytest
from django.test import override_settings

from accounts.operations import nonces
from gateway.core.contract.errors import UseDpopNonce
from tests.accounts.test_authentication import DID, URL, attempt
from tests.factories.proofs import Signer, mint_token

pytestmark = pytest.mark.django_db


def test_a_nonce_is_required_and_accepted() -> None:
    signer = Signer()
    now = time.time()
    with override_settings(DPOP_NONCES=True):
        token = mint_token(DID, [], signer)
        for nonce in (None, "", "old", 1, ["x"], nonces.current(now - 2 * nonces.WINDOW_SECONDS), "é"):
            with pytest.raises(UseDpopNonce) as raised:
                attempt(token, signer.proof("GET", URL, token, iat=int(now), nonce=nonce), now=now)
            error = raised.value
            assert error.headers["DPoP-Nonce"] == nonces.current(now)
            assert error.headers["WWW-Authenticate"].startswith('DPoP error="use_dpop_nonce"')
        for moment in (now, now - nonces.WINDOW_SECONDS):
            attempt(token, signer.proof("GET", URL, token, iat=int(now), nonce=nonces.current(moment)), now=now)


def test_a_nonce_is_ignored_if_none_is_required() -> None:
    signer = Signer()
    token = mint_token(DID, [], signer)
    attempt(token, signer.proof("GET", URL, token, nonce="x"))


def test_nonces_differ_by_window_and_secret() -> None:
    one = nonces.current(0)
    with override_settings(SECRET_KEY="another-secret-that-is-long-enough-here"):
        two = nonces.current(0)
    assert len({one, two, nonces.current(nonces.WINDOW_SECONDS)}) == 3
