"""The error catalogue and its two renderings."""

import pytest

from gateway.core.contract.errors import CATALOGUE, ApiError, InsufficientFunds, InvalidGrant

TYPES = {400, 401, 402, 403, 404, 405, 409, 413, 415, 422, 429, 500, 502, 503, 504}


def test_renders_the_body_of_the_api() -> None:
    error = InsufficientFunds(details={"availableMicrousd": 5}, private="wallet wal_1")
    assert error.body("req_1") == {
        "error": {
            "code": "insufficient_funds",
            "message": "The wallet does not have enough available funds for this request.",
            "type": "billing_error",
            "param": None,
            "details": {"availableMicrousd": 5},
            "request_id": "req_1",
            "docs_url": "https://gateway.example/docs/errors#insufficient_funds",
        }
    }


def test_renders_the_body_of_a_token_route() -> None:
    assert InvalidGrant(param="assertion").oauth_body("req_1") == {
        "error": "invalid_grant",
        "error_description": InvalidGrant.default_message,
        "error_uri": "https://gateway.example/docs/errors#invalid_grant",
        "request_id": "req_1",
        "param": "assertion",
    }


@pytest.mark.parametrize("error", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_every_code_has_a_status_a_type_and_words(error: type[ApiError]) -> None:
    made = error()
    assert made.status in TYPES
    assert made.message.endswith(".")
    assert made.type in {
        "authentication_error",
        "permission_error",
        "invalid_request_error",
        "conflict_error",
        "billing_error",
        "rate_limit_error",
        "api_error",
    }


def test_private_causes_stay_private() -> None:
    error = InvalidGrant(private="the key of kid k1 is unknown")
    assert "k1" not in str(error.body("r")) + str(error.oauth_body("r")) + str(error)
