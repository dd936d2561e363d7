"""Tracks what a session may still spend of its hold.

Before anything that costs money goes upstream, its worst case is set aside here: the whole conversation so far at the
highest input price, and the response's limit at the highest output price. Bytes bound the tokens of text, and twice the
vendor's rate bounds the tokens of audio.
"""

from dataclasses import dataclass

from billing.rules.cost import cost_microusd
from billing.rules.prices import PICO_PER_MICRO, PriceList
from billing.rules.quantities import QUANTITY_MAX, Quantities
from billing.rules.worst_case import WorstCase
from inference.routes.realtime.audio import TOKENS_PER_SECOND_MAX
from inference.routes.realtime.bound import RESPONSE_MIN_TOKENS, BoundedSession, response_max_tokens
from inference.routes.realtime.items import ITEM_TOKENS
from inference.routes.realtime.tally import Tally

TRANSCRIBED_SECONDS = 60
"""The audio that can still be transcribed while a response is in progress, however little of the hold is left."""


class CeilingReached(Exception):
    """The hold does not cover another response."""


class ResponseInProgress(Exception):
    """The hold does not cover another response until those in progress have released their unused part."""


@dataclass(slots=True)
class Requested:
    """A requested response: its maximum usage, and the size of the conversation at the request."""

    input_tokens: int
    output_tokens: int
    added_tokens: int
    is_plain: bool


class Allowance:
    """The spending account of one session."""

    def __init__(self, bounded: BoundedSession, tally: Tally) -> None:
        self._hold = bounded.hold_microusd
        worst = WorstCase.of(bounded.price.prices, audio_input=True, audio_output=True)
        self._prices = _prices_of_any_length(bounded.price.prices, worst)
        self._input_price, self._output_price = worst.input_price, worst.output_price
        self._spent, self._spent_at = 0, -1
        self._context_max = bounded.model.context_tokens or QUANTITY_MAX
        self.response_max = response_max_tokens(bounded.model)
        self._tally = tally
        self._added = 0  # everything ever added to the conversation
        self._items = 0  # the maximum of its current content
        self._buffer = 0  # audio not committed yet
        self._session = 0  # instructions and tools
        self._updates = 0  # updates that the upstream has not confirmed
        self.requested: list[Requested] = []
        self.transcribing: dict[str, int] = {}

    def grow(self, tokens: int) -> None:
        """Add text or committed audio to the conversation, or raise CeilingReached."""
        self._check_least(tokens)
        self._added += tokens
        self._items += tokens

    def add_input_audio(self, tokens: int, *, transcribed: bool, prompt_tokens: int) -> None:
        """Add audio to the buffer, or raise CeilingReached. Its transcription is charged separately, with its
        prompt."""
        self._check_least(tokens)
        audio_tokens = tokens + self._buffer
        if transcribed and self._room() < self._cost(audio_tokens + prompt_tokens, audio_tokens):
            raise CeilingReached
        self._buffer += tokens

    def commit(self, item_id: str, *, transcribed: bool, prompt_tokens: int) -> None:
        """Move the buffer's content to the conversation."""
        if transcribed:
            self.transcribing[item_id] = self._buffer + prompt_tokens
        tokens = self._buffer + ITEM_TOKENS
        self._added += tokens
        self._items += tokens
        self._buffer = 0

    def clear(self) -> None:
        """Discard the buffer's content."""
        self._buffer = 0

    def describe(self, tokens: int) -> None:
        """Add instructions and tools set by a client to the current ones, or raise CeilingReached."""
        self._check_least(tokens)
        self._session += tokens
        self._updates += 1

    def described(self, tokens: int, *, is_update: bool) -> None:
        """Replace the settings with those confirmed by the upstream, unless updates are still unconfirmed."""
        self._updates = max(self._updates - is_update, 0)
        self._session = max(self._session, tokens) if self._updates else tokens

    def ask(self, wish: int | None, *, extra_tokens: int, is_plain: bool, transcribed: bool = False) -> Requested:
        """Set a response aside, with the largest limit that is requested and covered.

        Raises CeilingReached, or ResponseInProgress if it would be covered if nothing else were set aside.
        """
        context = self._context(extra_tokens)
        most = min(wish or self.response_max, self.response_max)
        least = min(most, RESPONSE_MIN_TOKENS)
        audio_tokens = TRANSCRIBED_SECONDS * TOKENS_PER_SECOND_MAX if transcribed else 0
        aside = self._cost(audio_tokens, audio_tokens)  # a transcription has no more words than its audio has tokens
        limit = self._affordable(context, self._room() - aside)
        if limit < least:
            limit = min(self._affordable(context, self._room()), least)
        if limit < least:
            is_spent = self._affordable(context, self._unspent()) < least
            raise CeilingReached if is_spent else ResponseInProgress
        requested = Requested(context, min(limit, most), self._added, is_plain)
        self.requested.append(requested)
        return requested

    def done(self, requested: Requested | None, used: Quantities | None) -> None:
        """Release a response that has ended. Its usage states the size of the conversation and becomes its new
        bound."""
        if requested is None:
            return
        if requested in self.requested:
            self.requested.remove(requested)
        output = requested.output_tokens if used is None else used.output_tokens or 0
        self._items += output
        if used is not None and requested.is_plain and used.input_tokens:
            since = self._added - requested.added_tokens
            self._items = min(self._items, used.input_tokens + output + since)
        self._added += output

    @property
    def spent_microusd(self) -> int:
        """Return the cost of everything that has ended."""
        return min(self._hold - self._unspent(), self._hold)

    @property
    def is_used_up(self) -> bool:
        """Return whether everything that has ended costs as much as the hold, or more, and another response costs anything. Under
        a flat price none does."""
        return self._unspent() <= 0 and bool(self._input_price or self._output_price)

    def _context(self, extra_tokens: int = 0) -> int:
        open_output = sum(requested.output_tokens for requested in self.requested)
        return min(self._session + self._items + self._buffer + open_output + extra_tokens, self._context_max)

    def _check_least(self, more: int) -> None:
        """Check that a longer conversation still leaves enough for the shortest response on its own."""
        least = min(RESPONSE_MIN_TOKENS, self.response_max)
        if self._affordable(self._context(more), self._unspent()) < least:
            raise CeilingReached

    def _unspent(self) -> int:
        """Return the unspent micro-USD of the hold. Recomputed only after each report."""
        if self._spent_at != self._tally.reports:
            self._spent_at = self._tally.reports
            self._spent = cost_microusd(self._tally.reported(), self._prices)
        return self._hold - self._spent

    def _room(self) -> int:
        """Return the micro-USD that are neither spent nor set aside."""
        aside = sum(self._cost(each.input_tokens, each.output_tokens) for each in self.requested)
        return self._unspent() - aside - sum(self._cost(tokens, tokens) for tokens in self.transcribing.values())

    def _affordable(self, context: int, room: int) -> int:
        """Return how many tokens a response to this context may have for `room` micro-USD."""
        left = room - self._cost(context, 0)
        if left < 0:
            return 0
        return left * PICO_PER_MICRO // self._output_price if self._output_price else self.response_max

    def _cost(self, input_tokens: int, output_tokens: int) -> int:
        """Return the maximum cost of these tokens, rounded up."""
        return -(-(input_tokens * self._input_price + output_tokens * self._output_price) // PICO_PER_MICRO)


def _prices_of_any_length(prices: PriceList, worst: WorstCase) -> PriceList:
    """Return prices that the session's usage cannot exceed, however long it becomes: its band is that of its whole input."""
    if not prices.bands:
        return prices
    unit_prices = worst.ranges[0].prices.unit_prices
    highest = {"input_token": worst.input_price, "output_token": worst.output_price}
    return PriceList({**unit_prices, **highest})
