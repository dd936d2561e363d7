"""A session's usage: as reported by the upstream, and for unfinished responses as delivered."""

from dataclasses import dataclass, field

from billing.rules.quantities import QUANTITY_NAMES, Quantities
from inference.routes.realtime.audio import tokens_of
from inference.rules.token_meter import Delivered


@dataclass(slots=True)
class OpenResponse:
    """What was delivered of a response so far."""

    text: Delivered = field(default_factory=Delivered)
    audio_tokens: int = 0

    def add_text(self, delta: str) -> None:
        """Count a piece of text, a transcript or arguments."""
        self.text.add(1, len(delta.encode("utf-8", "surrogatepass")))

    def add_audio(self, size_bytes: int, kind: str) -> None:
        """Count a piece of audio."""
        self.audio_tokens += tokens_of(size_bytes, kind)


class Tally:
    """The running sum of one session. `is_whole` is False once some usage was not reported."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self.open: dict[str, OpenResponse] = {}
        self.is_whole = True
        self.reports = 0

    def report(self, used: Quantities) -> None:
        """Add the upstream's report. Raises MalformedUsage if the sum is out of range."""
        counts = _sum(self._counts, used.counts())
        Quantities(**counts)  # type: ignore[arg-type]
        self._counts = counts
        self.reports += 1

    def begin(self, response_id: str) -> None:
        """Begin a response."""
        self.open.setdefault(response_id, OpenResponse())

    def end(self, response_id: str, used: Quantities | None) -> None:
        """End a response with its usage. Without one, its delivered part counts, and the tally is not whole."""
        left = self.open.pop(response_id, None)
        if used is not None:
            self.report(used)
        elif left is not None and (left.text.events or left.audio_tokens):
            self.is_whole = False
            self._counts = _sum(self._counts, _estimate(left).counts())
            self.reports += 1

    def reported(self) -> Quantities:
        """Return the sum of everything that has ended."""
        return Quantities(**self._counts)  # type: ignore[arg-type]

    def delivered(self) -> Quantities:
        """Return the sum including the delivered parts of unfinished responses."""
        counts = self._counts
        for response in self.open.values():
            counts = _sum(counts, _estimate(response).counts())
        return Quantities(**counts)  # type: ignore[arg-type]


def _estimate(response: OpenResponse) -> Quantities:
    """Estimate a response by its events (docs/decisions/0020). A transcript accompanies audio and is not counted
    again."""
    text_tokens = 0 if response.audio_tokens else response.text.tokens_estimated
    return Quantities(
        input_tokens=0, output_tokens=text_tokens + response.audio_tokens, output_audio_tokens=response.audio_tokens
    )


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    names = (name for name in QUANTITY_NAMES if name in one or name in other)
    return {name: one.get(name, 0) + other.get(name, 0) for name in names}
