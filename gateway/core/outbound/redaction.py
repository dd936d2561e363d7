"""Makes an external system's text safe to log: short, on one line, without secrets."""

import re
from collections.abc import Iterable

LOGGED_MAX_CHARACTERS = 300

_SECRET = re.compile(
    r"(?i)\b(?:bearer|basic|dpop)\s+[\w.~+/=-]{8,}"  # an authorization header
    r"|\b(?:sk|pk|rk|key|xox[a-z])[-_][\w*-]{8,}"  # the vendors' key formats, masked ones too
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"  # a JWT
    r"|(?<=://)[^/\s@]+@"  # a password in a URL
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` as a short line without `secrets` and without anything that looks like a secret."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    line = _CONTROL.sub(" ", _SECRET.sub("[redacted]", text))
    return line if len(line) <= LOGGED_MAX_CHARACTERS else f"{line[:LOGGED_MAX_CHARACTERS]}…"
