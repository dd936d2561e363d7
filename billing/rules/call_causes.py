"""Words for why a call failed, was not charged, or ended early: the one place that has them.

The ledger keeps a short word (`gateway.core.telemetry.causes`), and ledgers of older versions one of their own. Operators read what
happened at the upstream, customers what it means for them.
"""

from typing import NamedTuple


class CauseText(NamedTuple):
    """A few words for the operator, and a sentence for the customer."""

    title: str
    sentence: str


REFUSED = "The model provider refused the request."
UNREACHABLE = "The model provider could not be reached."
FAILED = "The model provider answered with an error."
OVERLOADED = "The model provider was overloaded and did not take the request."
LATE = "The model provider did not answer in time."
LOST = "The connection to the model provider was lost."
UNREADABLE = "The answer of the model provider could not be read."
NOT_SENT = "The request was not sent to the model provider."
NO_ACCESS = "The model provider did not give this gateway access to the model."
NOT_SET_UP = "The model could not be called, because of how this gateway is set up."
INTERRUPTED = "The gateway was interrupted during the call."

CAUSES = {
    "upstream_400": CauseText("Upstream: the request is invalid (400)", REFUSED),
    "upstream_401": CauseText("Upstream: the gateway's key was refused (401)", NO_ACCESS),
    "upstream_402": CauseText("Upstream: the gateway's account is out of funds (402)", FAILED),
    "upstream_403": CauseText("Upstream: the gateway's key may not do this (403)", NO_ACCESS),
    "upstream_404": CauseText("Upstream: no such model or address (404)", NO_ACCESS),
    "upstream_413": CauseText(
        "Upstream: the request is too large (413)", "The request was too large for the model provider."
    ),
    "upstream_422": CauseText("Upstream: the request is invalid (422)", REFUSED),
    "upstream_429": CauseText("Upstream: too many requests (429)", OVERLOADED),
    "upstream_1xx": CauseText("Upstream: an unexpected status (1xx)", FAILED),
    "upstream_2xx": CauseText("Upstream: an unexpected status (2xx)", FAILED),
    "upstream_3xx": CauseText("Upstream: a redirect (3xx)", FAILED),
    "upstream_4xx": CauseText("Upstream: the request was refused (4xx)", FAILED),
    "upstream_5xx": CauseText("Upstream: an error of its own (5xx)", FAILED),
    "timeout_connect": CauseText("Upstream: no connection in time", UNREACHABLE),
    "timeout_first_byte": CauseText("Upstream: no answer in time", LATE),
    "timeout_idle": CauseText("Upstream: the stream fell silent", LATE),
    "connection": CauseText("Upstream: no connection, or it was lost", UNREACHABLE),
    "bad_answer": CauseText("Upstream: an invalid answer", UNREADABLE),
    "bad_usage": CauseText("Upstream: no valid usage", "The model provider did not report a valid usage."),
    "broken_off": CauseText("Upstream: the stream ended with an error", "The model provider broke the answer off."),
    "overloaded": CauseText("Upstream: overloaded", OVERLOADED),
    "misconfigured": CauseText("The upstream's row is wrong", NOT_SET_UP),
    "no_deployment": CauseText("No deployment can serve the request", NOT_SET_UP),
    "failed_in_part": CauseText("Answered in part", "Only a part of the request was answered."),
    "session_idle": CauseText("Nothing happened in the session", "Nothing happened in the session for too long."),
    "client_left": CauseText("The client left", "The app left before the end of the answer."),
    "cut_at_ceiling": CauseText("Cut at the maximum cost", "The answer reached the maximum cost that the app had set."),
    "access_lost": CauseText("Access was lost during the call", "Access ended during the call."),
    "server_stopped": CauseText("The gateway was stopped", INTERRUPTED),
    "not_sent": CauseText("Given up before it was sent", NOT_SENT),
    "internal_error": CauseText("A mistake of the gateway's own", "The gateway failed during the call."),
    # Words of earlier versions, and of reviews.
    "rejected": CauseText("Upstream: the request was refused", REFUSED),
    "not_dispatched": CauseText("Given up before it was sent", NOT_SENT),
    "unreachable": CauseText("Upstream: no connection", UNREACHABLE),
    "upstream_failed": CauseText("Upstream: an error", FAILED),
    "usage_missing": CauseText("Upstream: no usage", "The model provider did not report the usage."),
    "usage_malformed": CauseText("Upstream: an invalid usage", "The model provider reported an invalid usage."),
    "timed out": CauseText("Upstream: no answer in time", LATE),
    "connection lost": CauseText("Upstream: the connection was lost", LOST),
    "lost": CauseText("Upstream: the connection was lost", LOST),
    "malformed": CauseText("Upstream: an invalid answer", UNREADABLE),
    "failed in part": CauseText("Answered in part", "Only a part of the request was answered."),
    "process_died": CauseText("A process of the gateway died", INTERRUPTED),
    "deadline_passed": CauseText("The call passed its deadline", INTERRUPTED),
}

DECISIONS = {
    "upstream": CauseText(
        "The upstream's record shows no use", "The record of the model provider shows that nothing was used."
    ),
    "operator": CauseText("Decided by an operator", "The operator of this gateway decided that nothing is charged."),
    "delivered": CauseText("Decided by what was delivered", "Only what was delivered counts."),
    "unresolved": CauseText("Not resolved in time", "The usage could not be determined, so nothing is charged."),
}
"""What decided about a call in review."""


def title(word: str | None) -> str:
    """Return an operator's words for a cause or decision; an unknown one, of a later version, is shown as it is stored."""
    if not word:
        return ""
    found = CAUSES.get(word) or DECISIONS.get(word)
    return found.title if found else word.replace("_", " ").capitalize()


def word_of(state: str, review_reason: str | None, resolution: str | None) -> str:
    """Return the word that says most about a call: why it waits, or else what ended it without its whole charge; "" if nothing
    did."""
    if state == "review":
        return review_reason or ""
    if resolution in DECISIONS:
        return review_reason or resolution or ""
    return resolution or review_reason or ""
