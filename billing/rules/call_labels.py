"""Explains to customers how a metered call ended, and why."""

from typing import NamedTuple

from gateway.core.telemetry.causes import Cause

STATUS = {"dispatched": "held", "review": "reconciling", "settled": "settled", "released": "released"}
"""A call's state as the API and exports name it."""


class Ending(NamedTuple):
    """One word for a list, a sentence that says why, and whether it is good or bad news (or neither)."""

    word: str
    why: str
    news: str = ""


_UNREACHED = "The model provider could not be reached."
_REFUSED = "The model provider refused the request."
_BUSY = "The model provider was overloaded and did not take the request."
_NO_ACCESS = "The model provider did not give this gateway access to the model."
_NOT_HERE = "The model could not be called, because of how this gateway is set up."
_ERROR = "The model provider answered with an error."

RELEASED: dict[str, str] = {
    Cause.NOT_SENT: "The request was not sent to the model provider.",
    Cause.TIMEOUT_CONNECT: _UNREACHED,
    Cause.CONNECTION: _UNREACHED,
    Cause.OVERLOADED: _BUSY,
    Cause.MISCONFIGURED: _NOT_HERE,
    Cause.NO_DEPLOYMENT: _NOT_HERE,
    **dict.fromkeys(("upstream_400", "upstream_422"), _REFUSED),
    **dict.fromkeys(("upstream_401", "upstream_403", "upstream_404"), _NO_ACCESS),
    "upstream_413": "The request was too large for the model provider.",
    "upstream_429": _BUSY,
    **dict.fromkeys(("upstream_402", "upstream_3xx", "upstream_4xx", "upstream_5xx"), _ERROR),
    # What calls of earlier versions say.
    "rejected": _REFUSED,
    "unreachable": _UNREACHED,
    "upstream_failed": _ERROR,
    # What decided about a call in review.
    "upstream": "The record of the model provider shows that nothing was used.",
    "operator": "The operator of this gateway decided that nothing is charged.",
    "unresolved": "The usage could not be determined, so nothing is charged.",
}
REVIEWED = {
    "usage_missing": "The model provider did not report the usage.",
    "usage_malformed": "The model provider reported an invalid usage.",
    "upstream_failed": "The model provider answered with an error and may have charged for it.",
    "timed out": "The model provider did not answer in time.",
    "connection lost": "The connection to the model provider was lost.",
    "lost": "The connection to the model provider was lost.",
    "malformed": "The answer of the model provider could not be read.",
    "failed in part": "Only a part of the request was answered.",
    "process_died": "The gateway was interrupted during the call.",
    "deadline_passed": "The gateway was interrupted during the call.",
    "internal_error": "The gateway failed during the call.",
}
BROKE_OFF = "The answer broke off."
STANDS = "The amount stays held until it is known what was used."
COUNTED = {
    "upstream": "Charged for the usage that the provider reported.",
    "delivered": "The answer broke off. Only what was delivered is charged.",
    "operator": "The operator of this gateway decided the charge.",
}


def ending(
    state: str, *, review_reason: str | None, resolution: str | None, basis: str | None, overrun_microusd: int = 0
) -> Ending:
    """Describe how a call ended; `basis` is whose count was charged, `resolution` what decided it."""
    match state:
        case "settled":
            return Ending("Charged", _charged(basis or "", resolution, overrun_microusd), "good")
        case "released":
            return Ending("Not charged", RELEASED.get(resolution or "", "Nothing was used."))
        case "review":
            return Ending("Under review", f"{_unknown(review_reason)} {STANDS}", "bad")
    return Ending("In progress", "The call has not ended yet.")


def _charged(basis: str, resolution: str | None, overrun_microusd: int) -> str:
    why = COUNTED.get(basis, COUNTED["upstream"])
    if basis == "upstream" and resolution == "upstream":
        why = "The outcome was unknown at first. Charged for the usage in the provider's record."
    return f"{why} It used more than was held for it; you do not pay for that." if overrun_microusd else why


def _unknown(reason: str | None) -> str:
    return REVIEWED.get(reason or "", BROKE_OFF)
