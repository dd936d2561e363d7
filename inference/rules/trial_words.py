"""Puts the result of a trial into words: what came, and what an operator can do about it."""

from collections.abc import Mapping
from typing import Any

_OUTCOMES = {
    "answered": "answered",
    "refused": "refused",
    "overloaded": "overloaded",
    "unreachable": "not reached, nothing was sent",
    "failed": "failed",
    "unclear": "no clear answer",
}

_BY_STATUS = {
    400: "The upstream does not take this request. Check the name of the model, and the upstream's options: it may not know "
    "service tiers, or read the output limit from another field.",
    401: "The upstream refuses the key. Check the key, and the header that carries it.",
    402: "The account at the upstream has to be paid.",
    403: "The upstream refuses the key for this model. Check what the key may do there.",
    404: "The upstream has no such path or model. Check the base URL, most of which end with /v1, and the name of the model.",
    429: "The upstream limits this account, or its quota is used up.",
}

_BY_WORD = {
    "DNS": "The name of the host cannot be resolved. Check the base URL.",
    "Certificate": "The certificate of the host is not valid for its name, or nobody trusted has signed it.",
    "SSL": "No encrypted connection came about. Check that the base URL has the right scheme and port.",
    "Connect": "Nothing listens at this address. Check host and port of the base URL, and the firewall between.",
    "timed out": "No answer came in time. Try again, or raise the upstream's timeout.",
    "content type": "Something answered that is not this API, such as a web page. Check the path of the base URL.",
    "not JSON": "Something answered that is not this API. Check the path of the base URL.",
    "base_url": "Check the base URL of the upstream.",
}


def sentence(result: Mapping[str, Any] | None) -> str:
    """Return what came in a few words, such as "refused with 401 after 81 ms"."""
    if result is None:
        return "under way, or its process ended"
    status = f" with {result['status']}" if result["status"] else ""
    return f"{_OUTCOMES[result['outcome']]}{status} after {result['milliseconds']:,} ms"


def hint(result: Mapping[str, Any]) -> str:
    """Return what an operator can check; empty if it worked or if nothing is known."""
    if result["outcome"] == "answered":
        return ""
    if (found := _BY_STATUS.get(result["status"])) is not None:
        return found
    return next((words for word, words in _BY_WORD.items() if word in result["cause"]), "")
