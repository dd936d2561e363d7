"""PKCE."""

import pytest

from accounts.rules import pkce

# RFC 7636 appendix B
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_derives_the_challenge_of_the_rfc() -> None:
    assert pkce.challenge_of(VERIFIER) == CHALLENGE
    assert pkce.matches(VERIFIER, CHALLENGE)
    assert not pkce.matches(VERIFIER[:-1] + "l", CHALLENGE)


@pytest.mark.parametrize("verifier", ["a" * 43, "a" * 128, "Aa0-._~" * 7])
def test_accepts_43_to_128_unreserved_characters(verifier: str) -> None:
    assert pkce.is_verifier(verifier)


@pytest.mark.parametrize(
    "value", ["a" * 42, "a" * 129, "a" * 42 + "+", "a" * 42 + "é", "a" * 43 + "\n", "", None, 1, ["a" * 43]]
)
def test_refuses_other_verifiers(value: object) -> None:
    assert not pkce.is_verifier(value)


@pytest.mark.parametrize(
    "value", [CHALLENGE + "=", CHALLENGE[:-1], CHALLENGE + "A", CHALLENGE[:-1] + "N", "", None, 43]
)
def test_refuses_other_challenges(value: object) -> None:
    assert pkce.is_challenge(CHALLENGE)
    assert not pkce.is_challenge(value)
