"""What is read of a file's length, and why it may not be."""

from dataclasses import dataclass

ELEMENTS_MAX = 1_000_000
"""A file of 25 MiB with more frames than this was made to keep its reader busy."""


class UnreadableAudio(ValueError):
    """The length cannot be read; the message says why, in words for the client."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a container claims, in seconds, and the length between which and which its frames must lie.

    `claimed` is None where it claims nothing. `most` is None where `least` is exact.
    """

    claimed: float | None
    least: float
    most: float | None = None


def check_count(elements: int) -> None:
    """Raise UnreadableAudio where a file has more parts than any honest one."""
    if elements > ELEMENTS_MAX:
        raise UnreadableAudio("The file has too many parts.")
