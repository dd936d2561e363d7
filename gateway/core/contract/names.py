"""Checks names: one line of text that shows as it is written.

Control characters break logs, terminals and mails; bidirectional ones change the order in which a text is shown
(Unicode Technical Report 36, section 2.6), so that one name can be mistaken for another.
"""

import re

_DECEPTIVE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional marks, embeddings, overrides and isolates
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff"  # surrogates, which are no characters
    "]"
)


def shows_as_written(text: str) -> bool:
    """Return whether a text has neither control nor bidirectional characters."""
    return _DECEPTIVE.search(text) is None


def cleaned(text: str) -> str:
    """Remove those characters from a name of another system, where nobody can correct it."""
    return _DECEPTIVE.sub("", text)
