"""Counts a text stream by its events and bytes, for when the upstream does not report its usage, and records what it reports.

One event usually carries one token, and a token of running text has four bytes or more. Neither is certain: an upstream
may put many tokens into one event, or a token may be a single character. If the two disagree:

- to stop a stream at its limit, only certain tokens count (`at_least`), so that no valid response is cut;
- to charge what a client received before it left, events count, or bytes if events evidently carry many tokens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from billing.rules.quantities import Quantities
from inference.interface.answer import Chunk
from inference.interface.request import StreamMeter
from inference.rules.input_bound import tokens_of_bytes
from inference.rules.token_charge import TokenCharge

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


class TokenBound(Protocol):
    """The interface of a request for its meter: its expected input, its maximum output, and how it is charged."""

    @property
    def input_estimate(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    @property
    def charge(self) -> TokenCharge: ...


class TokenMeter(StreamMeter):
    """The running count of one text stream."""

    def __init__(self, request: TokenBound) -> None:
        self._request = request
        self._delivered = Delivered()
        self._usage: Mapping[str, Any] = {}
        self._service_tier: Any = None

    def add(self, chunk: Chunk) -> None:
        self._delivered.add(chunk.output_deltas, chunk.output_bytes)
        if chunk.usage is not None:
            self._usage = chunk.usage
        if chunk.service_tier is not None:
            self._service_tier = chunk.service_tier

    @property
    def service_tier(self) -> str | None:
        """Return the tier that the stream is charged at: the last one that it reported, or the one that was asked for."""
        return self._request.charge.tier(self._service_tier)

    @property
    def is_beyond_limit(self) -> bool:
        return self._delivered.tokens_at_least > self._request.output_tokens

    def reported(self) -> Quantities:
        return self._request.charge.quantities(self._usage, self._service_tier)

    def delivered(self) -> Quantities:
        """Estimate the usage of the stream: its input, and the delivered output within the limit."""
        output_tokens = min(self._delivered.tokens_estimated, self._request.output_tokens)
        return Quantities(
            input_tokens=self._request.input_estimate, output_tokens=output_tokens, service_tier=self.service_tier
        )
