"""Conversion between principals and claims."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules import access_token
from accounts.rules.principal import Principal

SERVICE = "https://gateway.example"
ALICE = Principal(
    did="did:web:studio.example:alice",
    client_id="https://studio.example",
    scopes=frozenset({"wallet:read", "infer:*"}),
    jkt="thumb",
    token_id="at_1",
    product=None,
    org_id=None,
    membership_id=None,
    session_id=None,
    issued_at=1_790_000_000,
    expires_at=1_790_000_300,
)


def test_a_plain_token_carries_no_claim_that_does_not_apply() -> None:
    assert access_token.claims_of(ALICE, issuer=SERVICE, audience=SERVICE) == {
        "iss": SERVICE,
        "aud": SERVICE,
        "sub": "did:web:studio.example:alice",
        "client_id": "https://studio.example",
        "scope": "infer:* wallet:read",
        "cnf": {"jkt": "thumb"},
        "iat": 1_790_000_000,
        "exp": 1_790_000_300,
        "jti": "at_1",
    }


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"product": "studio"},
        {"org_id": "org_1", "membership_id": "mem_1"},
        {"session_id": "dev_1"},
        {"consents": frozenset({"realtime"})},
        {"scopes": frozenset()},
    ],
)
def test_claims_are_read_back(fields: dict[str, Any]) -> None:
    principal = replace(ALICE, **fields)
    claims = access_token.claims_of(principal, issuer=SERVICE, audience=SERVICE)
    assert access_token.principal_of(claims, issuer=SERVICE, audience=SERVICE) == principal


def test_the_wildcard_allows_every_alias_and_nothing_else() -> None:
    assert ALICE.allows("infer:fast")
    assert ALICE.allows("wallet:read")
    assert not ALICE.allows("usage:read")
    assert not ALICE.allows("infer:")


def test_a_principal_is_authenticated_and_pays_for_itself() -> None:
    assert ALICE.is_authenticated
    assert ALICE.owner == ("account", ALICE.did)
    assert replace(ALICE, org_id="org_1").owner == ("organization", "org_1")


JSON = (
    st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text()) | st.dictionaries(st.text(), st.text())
)
NAMES = ["sub", "client_id", "scope", "cnf", "jti", "iat", "exp", "consents"]


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON)))
def test_any_claims_are_read_or_refused(claims: dict[str, Any]) -> None:
    claims = {"iss": SERVICE, "aud": SERVICE, **claims}
    try:
        access_token.principal_of(claims, issuer=SERVICE, audience=SERVICE)
    except ValueError:
        return
    assert set(NAMES) - {"consents"} <= set(claims)
