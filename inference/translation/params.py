"""Translates the member named in an upstream's refusal to the client's format."""

import re
from collections.abc import Mapping

from inference.translation.conversation import SHARED

_FIRST = re.compile(r"\w+")
_SAME = frozenset({*SHARED, "metadata", "model", "stream", "tool_choice", "tools", "top_logprobs"})


def renamed(param: str | None, read: Mapping[str, str], written: Mapping[str, str]) -> str | None:
    """Return the member of `written` that corresponds to one of `read`, None if there is none.

    Both map a format's members to the fields of a `Conversation`. Only the first member of a path has a counterpart.
    """
    named = _FIRST.match(param or "")
    if named is None or named[0] in _SAME:
        return named and named[0]
    return next((name for name, field in written.items() if field == read.get(named[0])), None)
