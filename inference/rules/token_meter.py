"""Counts a text stream by its events and bytes, and records its reported usage."""

from collections.abc import Mapping
from typing import Any, Protocol

from billing.rules.quantities import Quantities
from inference.interface.answer import Chunk
from inference.interface.request import StreamMeter
from inference.rules.delivery import Delivered


class TokenBound(Protocol):
    """The interface of a request for its meter: its expected input, its maximum output, and how its vendor's usage is
    read."""

    @property
    def input_estimate(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    def read_usage(self, usage: Mapping[str, Any]) -> Quantities: ...


class TokenMeter(StreamMeter):
    """The running count of one text stream."""

    def __init__(self, request: TokenBound) -> None:
        self._request = request
        self._delivered = Delivered()
        self._usage: Mapping[str, Any] = {}

    def add(self, chunk: Chunk) -> None:
        self._delivered.add(chunk.output_deltas, chunk.output_bytes)
        if chunk.usage is not None:
            self._usage = chunk.usage

    @property
    def is_beyond_limit(self) -> bool:
        return self._delivered.tokens_at_least > self._request.output_tokens

    def reported(self) -> Quantities:
        return self._request.read_usage(self._usage)

    def delivered(self) -> Quantities:
        """Estimate the usage of the stream: its input, and the delivered output within the limit."""
        output_tokens = min(self._delivered.tokens_estimated, self._request.output_tokens)
        return Quantities(input_tokens=self._request.input_estimate, output_tokens=output_tokens)
