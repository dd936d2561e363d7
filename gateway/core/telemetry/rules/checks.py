"""The checks of a metered request, in their order: which one refused it, and which ones it had passed.

The list is that of `docs/metering.md`, "The order of checks"; a test compares the two.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """What became of a check."""

    PASSED = "Passed"
    REFUSED = "Refused"
    PERHAPS = "Refused here, or at the other check with this error"
    NOT_MADE = "Not made"


@dataclass(frozen=True, slots=True)
class Check:
    """A check, with the codes of the errors that it refuses with."""

    number: int
    title: str
    codes: frozenset[str]


def _check(number: int, title: str, *codes: str) -> Check:
    return Check(number, title, frozenset(codes))


CHECKS = (
    _check(1, "Proof and access token", "invalid_dpop_proof", "invalid_token", "use_dpop_nonce"),
    _check(
        *(2, "Media type, coding, size and JSON of the body"),
        *("request_too_large", "unsupported_media_type", "invalid_json"),
    ),
    _check(3, "The model exists", "model_not_found"),
    _check(4, "The token may call the model", "insufficient_scope"),
    _check(
        *(5, "Idempotency key and maximum cost"),
        *("idempotency_key_required", "max_cost_required", "invalid_request"),
    ),
    _check(6, "The key is not in use for another request", "idempotency_in_progress", "idempotency_key_reused"),
    _check(
        *(7, "The route serves the model, and the fields of the body are valid"),
        *("invalid_request", "images_unsupported", "input_too_large", "consent_required"),
    ),
    _check(8, "The model is enabled, deployed and priced", "model_unavailable"),
    _check(
        *(9, "Access to the organization and its product"),
        *("not_member", "no_seat", "product_disabled", "invalid_token"),
    ),
    _check(10, "Rate limits", "rate_limited"),
    _check(11, "The worst case is within the maximum cost", "max_cost_exceeded"),
    _check(12, "Budgets", "budget_exceeded"),
    _check(13, "Wallet and credits", "insufficient_funds"),
    _check(14, "Images and files that the request names", "image_rejected", "invalid_request", "rate_limited"),
)


def refusing(code: str, marks: Collection[str]) -> list[Check]:
    """Return the check that refused a request with this error, or those that may have; none if no check did.

    The marks that the request had reached tell most of those with the same code apart.
    """
    found = [check for check in CHECKS if code in check.codes]
    if code == "invalid_token" and "checked" not in marks:  # the organization is looked up with the hold
        return found[:1]
    after = [check for check in found if check.number == 14]
    return (
        after if "checked" in marks and after and code != "rate_limited" else [one for one in found if one not in after]
    )


def results(code: str, marks: Collection[str]) -> list[tuple[Check, Result]]:
    """Return what became of each check of a request that was refused with this error; "" if it was not refused."""
    numbers = [check.number for check in refusing(code, marks)]
    if not numbers:
        return [(check, Result.PASSED) for check in CHECKS] if not code else []
    refused = Result.REFUSED if len(numbers) == 1 else Result.PERHAPS
    return [(check, _result(check.number, numbers, refused)) for check in CHECKS]


def _result(number: int, refusing: list[int], refused: Result) -> Result:
    if number in refusing:
        return refused
    return Result.PASSED if number < refusing[0] else Result.NOT_MADE
