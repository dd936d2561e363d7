"""The result of measuring an audio file, and its errors."""

from dataclasses import dataclass

ELEMENTS_MAX = 1_000_000
"""A file of 25 MiB with more frames than this was crafted to waste the reader's time."""
TRACKS_MAX = 64


class UnreadableAudio(ValueError):
    """The length cannot be determined; the message tells the client why."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The container's claim in seconds, and the range of lengths that its frames allow.

    `claimed` is None if there is no claim. `most` is None if `least` is exact.
    """

    claimed: float | None
    least: float
    most: float | None = None


def check_count(elements: int) -> None:
    """Raise UnreadableAudio if a file has more parts than any valid one."""
    if elements > ELEMENTS_MAX:
        raise UnreadableAudio("The file has too many parts.")


def check_tracks(tracks: int) -> None:
    """Raise UnreadableAudio if a file has more tracks than any valid one."""
    if tracks > TRACKS_MAX:
        raise UnreadableAudio("The file has too many tracks.")
