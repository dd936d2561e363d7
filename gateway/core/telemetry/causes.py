"""The words for why a call failed, was not charged, or ended early. They are stored in the ledger and in the sums of telemetry.

A word says nothing that its upstream wrote. Words may be added; a word that is stored keeps its meaning.
"""

from enum import StrEnum


class Cause(StrEnum):
    """Why a call ended otherwise than with its whole answer. `of_status` has those of error answers."""

    TIMEOUT_CONNECT = "timeout_connect"  # no connection in time; nothing was sent
    TIMEOUT_FIRST_BYTE = "timeout_first_byte"  # sent, but no whole answer, or no first event of a stream, in time
    TIMEOUT_IDLE = "timeout_idle"  # a stream had begun, and was silent for too long
    CONNECTION = "connection"  # refused, DNS, TLS, or lost
    BAD_ANSWER = "bad_answer"  # not what the protocol allows
    BAD_USAGE = "bad_usage"  # an answer without a usage that can be charged
    BROKEN_OFF = "broken_off"  # the upstream ended its own stream with an error
    FAILED_IN_PART = "failed_in_part"  # one of several requests of a call was answered, another was not
    OVERLOADED = "overloaded"  # the upstream says that it is, in a stream or with another status than 429
    MISCONFIGURED = "misconfigured"  # the upstream's row: an address or a header that cannot be sent
    NO_DEPLOYMENT = "no_deployment"  # no deployment of the model can serve the request
    CLIENT_LEFT = "client_left"
    SESSION_IDLE = "session_idle"  # a session in which nothing happened for too long
    CUT_AT_CEILING = "cut_at_ceiling"  # a stream that went beyond what its maximum cost pays for
    ACCESS_LOST = "access_lost"  # suspended, signed out, or without consent while a stream was open
    SERVER_STOPPED = "server_stopped"
    NOT_SENT = "not_sent"  # held, but given up before anything was sent
    INTERNAL_ERROR = "internal_error"  # a mistake of the gateway's own


TEXTS: dict[str, str] = {
    Cause.TIMEOUT_CONNECT: "The upstream took no connection in time.",
    Cause.TIMEOUT_FIRST_BYTE: "The upstream took the request, and did not answer in time.",
    Cause.TIMEOUT_IDLE: "The upstream's stream was silent for too long.",
    Cause.CONNECTION: "There was no connection to the upstream, or it was lost.",
    Cause.BAD_ANSWER: "The upstream's answer was not what its protocol allows.",
    Cause.BAD_USAGE: "The upstream's answer had no usage that can be charged.",
    Cause.BROKEN_OFF: "The upstream ended its stream with an error.",
    Cause.FAILED_IN_PART: "The upstream answered only a part of the call's requests.",
    Cause.OVERLOADED: "The upstream said that it is overloaded.",
    Cause.MISCONFIGURED: "The upstream cannot be called as it is configured.",
    Cause.NO_DEPLOYMENT: "No deployment of the model could serve the request.",
    Cause.CLIENT_LEFT: "The client left before the end.",
    Cause.SESSION_IDLE: "Nothing happened in the session for too long.",
    Cause.CUT_AT_CEILING: "The answer reached what its maximum cost pays for, and was cut.",
    Cause.ACCESS_LOST: "The caller lost access while the answer was under way.",
    Cause.SERVER_STOPPED: "The server process stopped before the end.",
    Cause.NOT_SENT: "The call was given up before anything was sent.",
    Cause.INTERNAL_ERROR: "The gateway failed by a mistake of its own.",
}
"""What each word says to operators. `text_of` has those of error answers, too."""


def text_of(cause: str) -> str:
    """Return what a word says to operators; a word that is not known, such as an error code, is returned as it is."""
    if cause.startswith("upstream_") and cause[9:10].isdigit():
        return f"The upstream answered with status {cause[9:]}."
    return TEXTS.get(cause, cause)


def of_status(status: int) -> str:
    """Return the word for an upstream's complete error answer, such as `upstream_401` or `upstream_5xx`."""
    if status in _OWN_WORD:
        return f"upstream_{status}"
    return f"upstream_{status // 100}xx" if 100 <= status < 600 else Cause.BAD_ANSWER.value


_OWN_WORD = frozenset({400, 401, 402, 403, 404, 413, 422, 429})
