"""Counts a stream of text by its events and bytes, and remembers the usage that it reported."""

from collections.abc import Mapping
from typing import Any, Protocol

from billing.rules.quantities import Quantities
from inference.rules.answer import Chunk
from inference.rules.delivery import Delivered
from inference.rules.request import StreamMeter


class TokenBound(Protocol):
    """What a count asks of its request: what its input probably counts, the most that its output may, and how its
    vendor's usage is read."""

    @property
    def input_estimate(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    def read_usage(self, usage: Mapping[str, Any]) -> Quantities: ...


class TokenMeter(StreamMeter):
    """The running count of one stream of text."""

    def __init__(self, request: TokenBound) -> None:
        self._request = request
        self._delivered = Delivered()
        self._usage: Mapping[str, Any] = {}

    def add(self, chunk: Chunk) -> None:
        """Count one more chunk."""
        self._delivered.add(chunk.output_deltas, chunk.output_bytes)
        if chunk.usage is not None:
            self._usage = chunk.usage

    @property
    def is_beyond_limit(self) -> bool:
        """Return whether more tokens came for certain than the limit allows."""
        return self._delivered.tokens_at_least > self._request.output_tokens

    def reported(self) -> Quantities:
        """Read what the upstream reported."""
        return self._request.read_usage(self._usage)

    def delivered(self) -> Quantities:
        """Estimate what the stream has cost: its input, and the output that was seen, within the limit."""
        output_tokens = min(self._delivered.tokens_estimated, self._request.output_tokens)
        return Quantities(input_tokens=self._request.input_estimate, output_tokens=output_tokens)
