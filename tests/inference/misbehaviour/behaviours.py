"""The ways in which an upstream misbehaves, and what becomes of each: of an answer in one piece, and of a stream."""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson

from tests.inference.misbehaviour.honest import EVENTS, body_of, events_of, pieces_of, streamed
from tests.inference.misbehaviour.row import CUT, Case, Outcome
from tests.inference.misbehaviour.wire import Ending, Play, chunk, chunked, head, whole
from tests.support.upstream.behaviours import HOST, SECRET
from tests.support.upstream.errors import HTML

JSON = "application/json"
KINDS = frozenset({"JSON", "bytes", "bytes as they come", "stream"})

OK = Outcome(200, None, "settled")
UNKNOWN_CHARGE = Outcome(200, None, "review")
BAD = Outcome(400, "invalid_request", "released")
TOO_LARGE = Outcome(413, "input_too_large", "released")
UNAVAILABLE = Outcome(503, "model_unavailable", "released")
OVERLOADED = Outcome(503, "upstream_overloaded", "released")
REFUSED = Outcome(502, "upstream_error", "released")
LOST = Outcome(502, "upstream_error", "review")
LATE = Outcome(504, "upstream_timeout", "review")
INVALID = Outcome(502, "upstream_invalid", "review")
BROKEN = Outcome(200, "upstream_error", "review")
BROKEN_LATE = Outcome(200, "upstream_timeout", "review")
BROKEN_INVALID = Outcome(200, "upstream_invalid", "review")


@dataclass(frozen=True)
class Misbehaviour:
    """One way to misbehave. `told` is what becomes of an answer in one piece, `streamed` of a stream, by default the same.

    `kinds` are the kinds of answers for which it means anything; `needs_usage` says that it is about an upstream's usage.
    `upstream` are fields of the upstream's row; `is_there` is false where nobody listens at its address. `exceeds` says that the hold is charged, not the honest answer's cost.
    """

    name: str
    play: Callable[[Case], Play]
    outcome: Outcome
    streamed: Outcome
    kinds: frozenset[str] = KINDS
    needs_usage: bool = False
    exceeds: bool = False
    is_there: bool = True
    upstream: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, case: Case) -> bool:
        """Return whether this can happen to a case."""
        return case.kind in self.kinds and not (self.needs_usage and case.row.usage is None)

    def expected(self, case: Case) -> Outcome:
        """Return what has to become of a case."""
        own = case.row.streamed if case.streams else case.row.outcomes
        outcome = own.get(self.name) or (self.streamed if case.has_begun else self.outcome)
        return (
            outcome._replace(code=CUT)
            if case.row.is_handed_on and not case.streams and outcome.status == 200 and outcome.code
            else outcome
        )


def _refusal(name: str, status: int, outcome: Outcome, code: str | None = None, **upstream: Any) -> Misbehaviour:
    error = {
        "message": f"key {SECRET} at {HOST}: traceback (most recent …)",
        "type": "error",
        "param": HOST,
        "code": code,
    }
    body = orjson.dumps({"error": error})
    return Misbehaviour(
        name, lambda case: Play([whole(body, JSON, status=status)]), outcome, outcome, upstream=upstream
    )


def _answered(name: str, outcome: Outcome, streamed_as: Outcome, *pieces: bytes, **fields: Any) -> Misbehaviour:
    return Misbehaviour(name, lambda case: Play(pieces), outcome, streamed_as, **fields)


def _half(case: Case) -> list[bytes]:
    """Lay out the first half of an honest answer."""
    if case.streams:
        events = events_of(case)
        return streamed(events[: len(events) // 2], ends=False)
    [answer] = pieces_of(case)
    return [answer[: len(answer) - len(body_of(case)) // 2]]


def _halved(name: str, ending: Ending, outcome: Outcome, streamed_as: Outcome, **upstream: Any) -> Misbehaviour:
    return Misbehaviour(name, lambda case: Play(_half(case), ending), outcome, streamed_as, upstream=upstream)


def _usage(form: str, outcome: Outcome, streamed_as: Outcome, **fields: Any) -> Misbehaviour:
    def play(case: Case) -> Play:
        return Play(pieces_of(case, form))

    name = f"usage {form.replace('_', ' ')}"
    return Misbehaviour(name, play, outcome, streamed_as, frozenset({"JSON", "stream"}), needs_usage=True, **fields)


def _body(name: str, change: Callable[[bytes], bytes]) -> Misbehaviour:
    """Send another body under the honest head."""

    def play(case: Case) -> Play:
        return Play([whole(change(body_of(case)), case.row.media_type)])

    return Misbehaviour(name, play, INVALID, INVALID, frozenset({"JSON"}))


def _in_stream(
    name: str, outcome: Outcome, change: Callable[[list[bytes]], list[bytes]], **fields: Any
) -> Misbehaviour:
    """Send other events."""

    def play(case: Case) -> Play:
        return Play(streamed(change(events_of(case)), ends=True))

    return Misbehaviour(name, play, outcome, outcome, frozenset({"stream"}), **fields)


def _after_half(*events: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda honest: [*honest[: len(honest) // 2], *events, *honest[len(honest) // 2 :]]


def _with_headers(**headers: str) -> Callable[[Case], Play]:
    def play(case: Case) -> Play:
        if case.streams:
            return Play([chunked(EVENTS, **headers), *pieces_of(case)[1:]])
        return Play([whole(body_of(case), case.row.media_type, 200, **headers)])

    return play


def _under_type(media_type: str) -> Callable[[Case], Play]:
    def play(case: Case) -> Play:
        if case.streams:
            return Play([chunked(media_type), *pieces_of(case)[1:]])
        return Play([whole(body_of(case), media_type)])

    return play


def _endless(case: Case) -> Play:
    """Send an honest beginning, and then blanks until the peer leaves."""
    begun = _half(case) if case.streams else [chunked(case.row.media_type)]
    return Play([*begun, chunk(b" " * 1024 * 1024)], "endless")


def _bomb(case: Case) -> Play:
    """Send a small body that unpacks to a huge one."""
    media_type = EVENTS if case.streams else case.row.media_type
    return Play([whole(_packed(), media_type, Content_Encoding="gzip")])


@cache
def _packed() -> bytes:
    return gzip.compress(b" " * 64 * 1024 * 1024, 1)


def _whole(case: Case) -> Play:
    """Send a whole answer where a stream was asked for."""
    return Play([whole(body_of(case), case.row.media_type)])


def _events(case: Case) -> Play:
    """Send a stream where none was asked for."""
    event = b"data: " + (body_of(case) if case.kind == "JSON" else b"{}") + b"\n\n"
    return Play(streamed([event], ends=True))


DEEP = b"[" * 2000 + b"]" * 2000
ERROR = b'data: {"type": "error", "error": {"message": "%b", "code": null}}\n\n' % f"{HOST} {SECRET}".encode()
HANGS = {"timeout_seconds": 0.8}

BEHAVIOURS: list[Misbehaviour] = [
    _refusal("400 context length", 400, BAD, "context_length_exceeded"),
    _refusal("400 content policy", 400, BAD, "content_policy_violation"),
    _refusal("422 invalid value", 422, BAD, "invalid_value"),
    _refusal("413 too large", 413, TOO_LARGE),
    _refusal("401 wrong key", 401, UNAVAILABLE, "invalid_api_key"),
    _refusal("403 forbidden", 403, UNAVAILABLE),
    _refusal("404 no such model", 404, UNAVAILABLE, "model_not_found"),
    _refusal("402 unpaid", 402, REFUSED),
    _refusal("429 rate limited", 429, OVERLOADED, "rate_limit_exceeded"),
    _refusal("503 overloaded", 503, OVERLOADED, "overloaded"),
    _refusal("529 overloaded", 529, REFUSED, "overloaded_error"),
    _refusal("503 unavailable", 503, REFUSED),
    _refusal("500 with a secret", 500, REFUSED),
    _refusal("500 that is billed", 500, LOST, bills_errors=True),
    _answered("502 of a proxy", REFUSED, REFUSED, whole(HTML, "text/html", status=502)),
    _answered("302 redirect", REFUSED, REFUSED, whole(b"", JSON, status=302, Location="/elsewhere")),
    _answered("307 redirect", REFUSED, REFUSED, whole(b"", JSON, status=307, Location="/elsewhere")),
    _answered("204 no content", INVALID, INVALID, head(204, JSON) + b"\r\n"),
    _answered("not there", REFUSED, REFUSED, is_there=False),
    _answered("cut before the answer", LOST, LOST),
    Misbehaviour("reset before the answer", lambda case: Play((), "reset"), LOST, LOST),
    _answered("cut in the headers", LOST, LOST, head(200, JSON)),
    Misbehaviour("hang before the answer", lambda case: Play((), "hang"), LATE, LATE, upstream=HANGS),
    _halved("hang in the body", "hang", LATE, BROKEN_LATE, **HANGS),
    _halved("cut in the body", "close", LOST, BROKEN),
    _halved("reset in the body", "reset", LOST, BROKEN),
    _in_stream("stream without its end", BROKEN, lambda honest: honest[:-1]),
    _in_stream("stream cut in an event", BROKEN, lambda honest: [*honest[:3], honest[3][:-10]]),
    _in_stream("error in the stream", BROKEN, _after_half(ERROR)),
    _in_stream("garbage in the stream", BROKEN_INVALID, _after_half(b'data: {"choices": [{]}\n\n')),
    _in_stream("deep nesting in the stream", BROKEN_INVALID, _after_half(b'data: {"a": %b}\n\n' % DEEP)),
    _in_stream("list in the stream", BROKEN_INVALID, _after_half(b"data: [1]\n\n")),
    _body("garbage", lambda body: b'{"id": "upstream-1", "choices": [{]}'),
    _body("half a body", lambda body: body[: len(body) // 2]),
    _body("list", lambda body: b"[%b]" % body),
    _body("empty body", lambda body: b""),
    _body("empty object", lambda body: b"{}"),
    _body("deep nesting", lambda body: b'{"a": %b, %b' % (DEEP, body[1:])),
    _body("page of a proxy", lambda body: HTML),
    _body("error under 200", lambda body: b'{"error": {"message": "%b"}}' % SECRET.encode()),
    Misbehaviour("wrong media type", _under_type("text/html"), INVALID, INVALID),
    Misbehaviour("stream for no stream", _events, INVALID, INVALID, KINDS - {"stream"}),
    Misbehaviour("answer for a stream", _whole, OK, OK, frozenset({"stream"})),
    Misbehaviour("huge header", _with_headers(x_debug="t" * 64 * 1024), INVALID, INVALID),
    Misbehaviour("endless", _endless, INVALID, BROKEN_INVALID),
    Misbehaviour("gzip bomb", _bomb, INVALID, INVALID, KINDS - {"bytes as they come"}),
    _usage("missing", UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    _usage("null", UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    _usage("partial", UNKNOWN_CHARGE, UNKNOWN_CHARGE),
    _usage("negative", INVALID, BROKEN_INVALID),
    _usage("fractional", INVALID, BROKEN_INVALID),
    _usage("string", INVALID, BROKEN_INVALID),
    _usage("boolean", INVALID, BROKEN_INVALID),
    _usage("huge", INVALID, BROKEN_INVALID),
    _usage("infinite", INVALID, BROKEN_INVALID),
    _usage("beyond_hold", OK, OK, exceeds=True),
]
