"""Estimates what a stream has delivered from its own bytes, for when the upstream does not report it.

One event usually carries one token, and a token of running text has four bytes or more. Neither is certain: an upstream
may put many tokens into one event, or a token may be a single character. If the two disagree:

- to stop a stream at its limit, only certain tokens count (`at_least`), so that no valid response is cut;
- to charge what a client received before it left, events count, or bytes if events evidently carry many tokens.
"""

from dataclasses import dataclass

BYTES_PER_TOKEN = 4
BATCHED_BYTES_PER_EVENT = 32
"""Events with a larger average size carry several tokens each; one token rarely has half as many bytes."""


@dataclass(slots=True)
class Delivered:
    """A running count of a stream's output: the `events` with output, and their UTF-8 `bytes`."""

    events: int = 0
    bytes: int = 0

    def add(self, events: int, size_bytes: int) -> None:
        """Count one more chunk."""
        self.events += events
        self.bytes += size_bytes

    @property
    def tokens_at_least(self) -> int:
        """Return the number of tokens that were certainly delivered."""
        return min(self.events, tokens_of_bytes(self.bytes))

    @property
    def tokens_estimated(self) -> int:
        """Estimate the number of delivered tokens."""
        if self.bytes > self.events * BATCHED_BYTES_PER_EVENT:
            return tokens_of_bytes(self.bytes)
        return self.events


def tokens_of_bytes(size_bytes: int) -> int:
    """Estimate the tokens of a text from its UTF-8 bytes, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)
