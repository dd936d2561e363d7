"""Counts the calls that a function makes: between two of them, another thread can take the interpreter's lock."""

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any


def calls_during(function: Callable[[], Any]) -> Counter[str]:
    """Count the calls made by a function, by name."""
    calls = Counter[str]()

    def note(frame: Any, event: str, function: Any) -> None:
        if event in ("call", "c_call"):
            calls[frame.f_code.co_name if event == "call" else function.__name__] += 1

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls
