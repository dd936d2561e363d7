"""What an honest upstream sends for a case, and the same with another usage."""

import copy
from collections.abc import Sequence
from typing import Any

from tests.inference.misbehaviour.row import Case, Json, Path
from tests.inference.misbehaviour.wire import chunk, chunked, whole
from tests.support.upstream.stream import DONE, Frame, dumps
from tests.support.upstream.usage import ABSENT, report

EVENTS = "text/event-stream; charset=utf-8"


def body_of(case: Case, usage: str = "true") -> bytes:
    """Lay out the body of a whole answer, with its usage under one of the forms of `tests.support.upstream.usage`."""
    answer = case.row.answer
    if isinstance(answer, bytes):
        return answer
    return dumps(answer if case.row.usage is None else _with_usage(answer, case.row.usage, usage))


def events_of(case: Case, usage: str = "true") -> list[bytes]:
    """Lay out the events of a stream, its end included."""
    events, path = list(case.row.events), case.row.stream_usage
    if path is not None:
        at = max(at for at, event in enumerate(events) if _found(event, path))
        events[at] = _with_usage(events[at], path, usage)
    frames = [Frame(event, name=str(event.get("type", ""))).encode() for event in events]
    return [*frames, DONE] if case.row.ends_with_done else frames


def pieces_of(case: Case, usage: str = "true") -> list[bytes]:
    """Lay out a whole honest answer as HTTP."""
    if case.streams:
        return streamed(events_of(case, usage), ends=True)
    return [whole(body_of(case, usage), case.row.media_type)]


def streamed(events: Sequence[bytes], *, ends: bool) -> list[bytes]:
    """Lay out events as HTTP, with or without the end of the body."""
    return [chunked(EVENTS), *map(chunk, events), *([chunk(b"")] if ends else [])]


def _found(event: Json, path: Path) -> Any:
    for name in path:
        event = event.get(name) or {}
    return event


def _with_usage(answer: Json, path: Path, form: str) -> Json:
    changed = copy.deepcopy(answer)
    *parents, name = path
    holder = changed
    for parent in parents:
        holder = holder[parent]
    if (usage := report(holder[name], form)) is ABSENT:
        del holder[name]
    else:
        holder[name] = usage
    return changed
