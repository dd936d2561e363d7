"""The report of an assertion says what the exchange says: it passes and fails with it, by the same first reason."""

from dataclasses import replace
from typing import Any

import pytest

from accounts.rules import assertion as assertions
from accounts.rules.assertion import CHECKS, AssertionRefused
from accounts.rules.assertion_report import CAUSES, FAILED, PASSED, SKIPPED, Step, report
from tests.accounts.test_assertions import ISSUER, NOW, SERVER, make
from tests.factories.proofs import ProductServer

CHANGED: list[dict[str, Any]] = [
    {},
    {"iss": "https://other.example"},
    {"aud": "https://other.example"},
    {"aud": [SERVER.audience]},
    {"product": "other"},
    {"sub": "did:web:other.example:alice"},
    {"sub": 7},
    {"iat": NOW - 10, "exp": NOW - 1},
    {"iat": NOW, "exp": NOW + 61},
    {"iat": NOW + 16, "exp": NOW + 60},
    {"iat": NOW + 15, "exp": NOW + 60},
    {"iat": "now"},
    {"iat": True, "exp": None},
    {"exp": 1e300},
    {"nbf": NOW + 16},
    {"nbf": NOW},
    {"capabilities": "wallet:read"},
    {"capabilities": ["wallet:read", "orgs:read"]},
    {"capabilities": ["a b"]},
    {"capabilities": [["x"]]},
    {"consents": "realtime"},
    {"jti": ""},
    {"jti": "x" * 256},
    {"cnf": {"jwk": {}}},
    {"cnf": {"jkt": "thumb"}},
    {"aud": "x" * 5000, "iat": "early", "sub": None},
]


def by_title(steps: list[Step]) -> dict[str, Step]:
    return {step.title: step for step in steps}


def refusal(token: str) -> AssertionRefused | None:
    """Return why the exchange refuses a token, None if it does not."""
    try:
        assertions.check(assertions.parse(token)[0], ISSUER, NOW)
    except AssertionRefused as refused:
        return refused
    return None


@pytest.mark.parametrize("claims", CHANGED, ids=str)
@pytest.mark.parametrize("signer", [SERVER, ProductServer()])
def test_the_first_reason_is_that_of_the_exchange(claims: dict[str, Any], signer: ProductServer) -> None:
    token = signer.assertion(**{"iat": NOW, "exp": NOW + 60, **claims})
    steps, _ = report(token, ISSUER, NOW)
    reasons = [step.reason for step in steps if step.state == FAILED]
    refused = refusal(token)
    if refused is None:
        assert reasons == []
    else:
        assert reasons[0] == str(refused)
        assert next(step.title for step in steps if step.state == FAILED) == CAUSES.get(refused.cause, "Format")


def test_all_checks_are_shown_in_order_with_what_was_found() -> None:
    token = make(aud="https://other.example", exp=NOW + 45, capabilities=["wallet:read", "orgs:read"], jti="one")
    steps, _ = report(token, ISSUER, NOW + 5)
    assert [step.title for step in steps] == ["Format", *(CAUSES[cause] for cause in CHECKS)]
    shown = by_title(steps)
    assert {title for title, step in shown.items() if step.state == FAILED} == {"Audience (aud)"}
    assert shown["Audience (aud)"] == Step(
        "Audience (aud)",
        FAILED,
        '"https://other.example"',
        f'"{SERVER.audience}"',
        f"aud is not the integration's audience, {SERVER.audience}",
    )
    assert shown["Lifetime (exp - iat)"].found == "45 s"
    assert shown["Expiry (exp)"].found.endswith(", 40 s from now")
    assert shown["Issued (iat)"].found.endswith(", 5 s ago")
    assert shown["Capabilities"].found == (
        '["wallet:read", "orgs:read"]; beyond the integration, so not granted: ["orgs:read"]'
    )
    assert shown["Start (nbf)"].found == "missing"


def test_of_what_cannot_be_read_nothing_else_is_checked() -> None:
    for token in ("", "a.b.c", "x" * 20_000, make().rpartition(".")[0]):
        steps, jws = report(token, ISSUER, NOW)
        assert jws is None
        assert [step.state for step in steps] == [FAILED, *(SKIPPED for _ in CHECKS)]
        assert steps[0].reason


def test_a_wrong_kid_and_a_wrong_key_are_told_apart() -> None:
    two = replace(ISSUER, keys=({**ISSUER.keys[0], "kid": "a"}, {**ProductServer().jwks["keys"][0], "kid": "b"}))
    unknown = by_title(report(make(), two, NOW)[0])["Key and signature"]
    assert unknown.reason == "no key of the integration has this kid"
    assert unknown.expected == "a signature by one of the integration's keys: a, b"
    stranger = by_title(report(ProductServer().assertion(iat=NOW, exp=NOW + 60), ISSUER, NOW)[0])["Key and signature"]
    assert stranger.reason.startswith("the signature does not verify")


def test_the_signature_is_never_shown() -> None:
    token = make()
    signature = token.rpartition(".")[2]
    assert signature not in str(report(token, ISSUER, NOW)[0])


def test_long_values_are_shortened() -> None:
    steps, _ = report(make(product="x" * 5000), ISSUER, NOW)
    assert len(by_title(steps)["Product"].found) == 301


def test_every_check_passes_for_a_good_one() -> None:
    assert {step.state for step in report(make(), ISSUER, NOW)[0]} == {PASSED}
