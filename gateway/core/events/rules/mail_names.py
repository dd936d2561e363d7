"""Prepares names for mails. Other people choose them, and a mail shows them under the service's name."""

import re
import unicodedata

from gateway.core.contract.names import cleaned

NAME_MAX_CHARACTERS = 80
SUBJECT_MAX_CHARACTERS = 150
_LINKING = re.compile(r"(?<=[.:/@])(?=\S)")
_WORD_JOINER = "\u2060"
_ISOLATED = "\u2068{}\u2069"


def shown_name(name: str) -> str:
    """Return a name as mails show it: one line, of a bounded length, not a link, and without effect on the text around it.

    Mail programs turn whatever looks like an address into a link, so that a name could lead somewhere else: an invisible
    character between its parts prevents that. A name from right to left is isolated (Unicode Standard Annex 9, FSI and PDI).
    """
    line = shortened(one_line(name), NAME_MAX_CHARACTERS)
    unlinked = _LINKING.sub(_WORD_JOINER, line)
    return _ISOLATED.format(unlinked) if _runs_left(unlinked) else unlinked


def one_line(text: str) -> str:
    """Return a text without control and bidirectional characters, and with single spaces."""
    return " ".join(cleaned(" ".join(text.split())).split())


def shortened(text: str, max_characters: int) -> str:
    """Return at most so many characters, the last of them an ellipsis where some are left out."""
    return text if len(text) <= max_characters else text[: max_characters - 1].rstrip() + "…"


def _runs_left(text: str) -> bool:
    return any(unicodedata.bidirectional(character) in {"R", "AL"} for character in text)
