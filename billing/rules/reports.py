"""What reports are summed up from."""

from typing import NamedTuple


class Subject(NamedTuple):
    """Which product a call was for, and which membership made it."""

    product: str | None
    membership_id: str | None


class Made(NamedTuple):
    """A call and what is known of its tokens."""

    subject: Subject
    input_tokens: int
    output_tokens: int


class Amount(NamedTuple):
    """Money that a call was charged or holds, in micro-USD."""

    subject: Subject
    microusd: int
