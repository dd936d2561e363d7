"""Explains to customers how a metered call ended, and why."""

from typing import NamedTuple

from billing.rules.call_causes import CAUSES, DECISIONS

STATUS = {"dispatched": "held", "review": "reconciling", "settled": "settled", "released": "released"}
"""A call's state as the API and exports name it."""


class Ending(NamedTuple):
    """One word for a list, a sentence that says why, and whether it is good or bad news (or neither)."""

    word: str
    why: str
    news: str = ""


RELEASED = {word: text.sentence for word, text in {**CAUSES, **DECISIONS}.items()}
REVIEWED = {word: text.sentence for word, text in CAUSES.items()} | {
    "upstream_failed": "The model provider answered with an error and may have charged for it.",
    "upstream_5xx": "The model provider answered with an error and may have charged for it.",
}
BROKE_OFF = "The answer broke off."
STANDS = "The amount stays held until it is known what was used."
COUNTED = {
    "upstream": "Charged for the usage that the provider reported.",
    "delivered": "The answer broke off. Only what was delivered is charged.",
    "operator": "The operator of this gateway decided the charge.",
}
DELIVERED = "Only what was delivered is charged."


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
    if basis == "delivered" and resolution in CAUSES:
        why = f"{CAUSES[resolution].sentence} {DELIVERED}"
    if basis == "upstream" and resolution == "upstream":
        why = "The outcome was unknown at first. Charged for the usage in the provider's record."
    return f"{why} It used more than was held for it; you do not pay for that." if overrun_microusd else why


def _unknown(reason: str | None) -> str:
    return REVIEWED.get(reason or "", BROKE_OFF)
