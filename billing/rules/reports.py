"""What reports are summed up from."""

from typing import NamedTuple


class Subject(NamedTuple):
    """Which product a call was for, and which membership made it."""

    product: str | None
    membership_id: str | None


class Used(NamedTuple):
    """The calls of a subject, what is known of their tokens, and micro-USD of the subject's charges."""

    subject: Subject
    calls: int
    input_tokens: int
    output_tokens: int
    charged_microusd: int


class Held(NamedTuple):
    """What the open calls of a subject hold, in micro-USD."""

    subject: Subject
    microusd: int
