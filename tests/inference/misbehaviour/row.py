"""What a route tells of itself to be tried, and what becomes of a call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.support.stage import PRICE, Stage

Json = dict[str, Any]
Path = tuple[str, ...]

CUT = "cut"


class Outcome(NamedTuple):
    """How a call ends: the status, the code of the error, if any, and the state of its money.

    Bytes that are handed on have no room for a code; then it is `CUT`, for the connection ends without their end.
    """

    status: int
    code: str | None
    state: str

    def __str__(self) -> str:
        return " ".join(filter(None, (str(self.status), self.code, self.state)))


@dataclass(frozen=True)
class Form:
    """A multipart request: its fields, and its one file with its name and media type."""

    fields: Mapping[str, str]
    file: tuple[str, bytes, str]
    file_field: str = "file"


@dataclass(frozen=True)
class Row:
    """One route at one kind of upstream; see the package's description."""

    name: str
    path: str
    route: str
    body: Callable[[str], Json | Form]
    answer: Json | bytes
    charge_microusd: int
    usage: Path | None = ("usage",)
    events: Sequence[Json] = ()
    stream_usage: Path | None = ("usage",)
    stream_members: Json = field(default_factory=lambda: {"stream": True})
    ends_with_done: bool = False
    is_handed_on: bool = False
    media_type: str = "application/json"
    scopes: tuple[str, ...] = ("infer:*",)
    price: Mapping[str, Any] = field(default_factory=lambda: PRICE)
    fields: Mapping[str, Any] = field(default_factory=dict)
    adapter: str = "openai"
    known: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    streamed: Mapping[str, Outcome] = field(default_factory=dict)
    calls: int = 1
    alias: Callable[[Stage, Any], str] | None = None


@dataclass(frozen=True)
class Case:
    """One form of a row: answered in one piece, or with a stream."""

    row: Row
    streams: bool

    @property
    def kind(self) -> str:
        """Return `stream`, `JSON`, `bytes` or `bytes as they come`: what an honest upstream answers with, and how that goes
        on to the client."""
        if self.streams:
            return "stream"
        if self.row.is_handed_on:
            return "bytes as they come"
        return "bytes" if isinstance(self.row.answer, bytes) else "JSON"

    @property
    def has_begun(self) -> bool:
        """Return whether the client's answer begins before the upstream's has ended."""
        return self.streams or self.row.is_handed_on

    @property
    def name(self) -> str:
        """Return the row's name with its form."""
        return f"{self.row.name} ({self.kind})"


def cases_of(rows: Sequence[Row]) -> list[Case]:
    """List every form of every row."""
    return [Case(row, streams) for row in rows for streams in (False, True) if not streams or row.events]
