"""The rows that reports are summed from."""

from typing import NamedTuple


class Subject(NamedTuple):
    """The product of a call, and the membership that made it."""

    product: str | None
    membership_id: str | None


class SubjectUsage(NamedTuple):
    """A subject's number of calls, their known tokens, and the subject's charges in micro-USD."""

    subject: Subject
    calls: int
    input_tokens: int
    output_tokens: int
    charged_microusd: int


class SubjectHold(NamedTuple):
    """What the open calls of a subject hold, in micro-USD."""

    subject: Subject
    microusd: int
