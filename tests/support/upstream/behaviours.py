"""Scripted misbehavior of the fake upstream.

A request's behavior is the first of these: the next script that matches it (see Scripts), the preset with the name of
the request's model, the query string in the model's name ("small?tokens=40&token_delay_ms=5"), or the plain, honest
behavior.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Describes the response to one request. The default is an honest upstream."""

    tokens: int = 16
    """The number of words without an output limit."""
    text: str = ""
    """Respond with this text instead; one token per word."""
    cached_tokens: int = 0
    """Prompt tokens that usage reports as read from a cache."""
    cache_write_tokens: int = 0
    """Prompt tokens that usage reports as written to a cache."""
    cache_write_1h_tokens: int = 0
    """How many of them usage reports as written for an hour."""
    counted: str = ""
    """A JSON object that is merged into the usage, also within its groups."""
    service_tier: str = ""
    """The tier that is reported, as JSON; by default the one that the request asks for."""
    service_tiers: str = ""
    """The tiers that a stream's events report one after the other, as a JSON list, whose last one remains."""
    reasoning_tokens: int = 0
    """Reasoning tokens, which are not shown."""
    accepted_tokens: int = 0
    """Tokens of a prediction that usage reports as part of the answer."""
    rejected_tokens: int = 0
    """Tokens of a prediction that usage reports on top of the answer."""
    audio_tokens: int = 0
    """Prompt tokens that usage reports as audio."""
    audio_seconds: float = 0.0
    """Seconds that usage reports instead of the file's own."""
    spoken_tokens: int = 0
    """Output tokens of audio beside the words, if requested."""
    calls: int = 1
    """The number of parallel calls of the offered function."""
    refusal: bool = False
    """Refuse, with as many words, instead of answering; only in a response."""
    failed: bool = False
    """End a response as failed, with its usage, under an HTTP success status."""
    delay_ms: float = 0.0
    """The delay before the first byte of the response."""
    token_delay_ms: float = 0.0
    """The delay before each streamed token after the first."""
    usage: str = "true"
    """A key of usage.FORMS: how the response reports its usage."""
    status: int = 200
    error_code: str | None = None
    error_param: str | None = None
    error_message: str = "The request could not be served."
    retry_after_seconds: int | None = None
    form: str = "json"
    """json, garbage, empty, array, html, truncated (a short body that claims to be whole),
    swapped (a stream where JSON was asked for, and the reverse)."""
    shape: str = ""
    """How a single route's response is malformed: a key of images.SPOILED or rerank.SPOILED."""
    made: str = ""
    """The size/quality stated for images; by default as requested, or 1024x1024/medium."""
    image_url: str = ""
    """The URL of a response's images, in place of their data."""
    image_bytes: int = 64
    """The size of an image in bytes."""
    cut: str = ""
    """before_headers, mid_body, first_event, mid_event, mid_stream, before_done."""
    reset: bool = False
    """Cut with a TCP reset instead of an orderly close."""
    hang: str = ""
    """before_headers, mid_body, first_event: send nothing from there on until the peer leaves."""
    endless: bool = False
    """Ignore every output limit and stream until the peer leaves."""
    done: bool = True
    """Close a stream with [DONE]; without it the stream ends cleanly but short."""
    error_event: bool = False
    """Put an error object into the middle of a stream, as vendors do, and stop."""
    framing: str = "plain"
    """A key of framing.FRAMINGS: how server-sent events are split into bytes."""
    headers: str = "leaky"
    """leaky (the vendor's own ids and hosts, the usual case), huge, or many."""
    content_type: str = ""
    """Send a wrong Content-Type."""

    @classmethod
    def parse(cls, settings: Mapping[str, Any], base: "Behaviour | None" = None) -> "Behaviour":
        """Build a behavior from texts or values, over `base`; ValueError names an unknown one."""
        fields = {field.name: field.type for field in dataclasses.fields(cls)}
        if unknown := set(settings) - set(fields):
            raise ValueError(f"unknown behaviour: {', '.join(sorted(unknown))}")
        plain = base or cls()
        values = {name: _convert(value, getattr(plain, name)) for name, value in settings.items()}
        return dataclasses.replace(plain, **values)


def _convert(value: Any, default: Any) -> Any:
    if not isinstance(value, str) or isinstance(default, str):
        return value
    if isinstance(default, bool):
        return value.lower() in {"1", "true", "yes"}
    if isinstance(default, float):
        return float(value)
    return int(value) if value.isdigit() else value


OVERLOADED = "That model is currently overloaded with other requests."
SECRET = "sk-upstream-secret-0001"
HOST = "inference-7.upstream.internal"
ORGANIZATION = "org-upstream-owner"
LEAKS = (SECRET, HOST, ORGANIZATION, "upstream-")
"""Texts that no client of a gateway may ever see; all upstream ids contain "upstream-"."""


def leaked(text: str) -> list[str]:
    """Return which of these texts a client got."""
    return [leak for leak in LEAKS if leak in text]


PRESETS: Mapping[str, Behaviour] = {
    "bad-gateway": Behaviour(status=502, form="html"),
    "cut-before-done": Behaviour(cut="before_done"),
    "cut-before-headers": Behaviour(cut="before_headers"),
    "cut-first-event": Behaviour(cut="first_event"),
    "cut-mid-body": Behaviour(cut="mid_body"),
    "cut-mid-event": Behaviour(cut="mid_event"),
    "cut-mid-stream": Behaviour(cut="mid_stream"),
    "empty-body": Behaviour(form="empty"),
    "endless": Behaviour(endless=True, token_delay_ms=1),
    "error-event": Behaviour(error_event=True),
    "forbidden": Behaviour(status=403, error_code="unsupported_country_region_territory"),
    "garbage-json": Behaviour(form="garbage"),
    "hang-before-headers": Behaviour(hang="before_headers"),
    "hang-first-event": Behaviour(hang="first_event"),
    "hang-mid-body": Behaviour(hang="mid_body"),
    "huge-headers": Behaviour(headers="huge"),
    "json-array": Behaviour(form="array"),
    "many-headers": Behaviour(headers="many"),
    "missing-model": Behaviour(status=404, error_code="model_not_found"),
    "no-done": Behaviour(done=False),
    "overloaded": Behaviour(status=503, error_code="overloaded", error_message=OVERLOADED),
    "rate-limited": Behaviour(status=429, error_code="rate_limit_exceeded", retry_after_seconds=1),
    "reject-content-policy": Behaviour(status=400, error_code="content_policy_violation"),
    "reject-context-length": Behaviour(status=400, error_code="context_length_exceeded", error_param="messages"),
    "reject-parameter": Behaviour(status=400, error_code="invalid_parameter", error_param="temperature"),
    "reject-too-large": Behaviour(status=413, error_code="request_too_large"),
    "reject-unprocessable": Behaviour(status=422, error_code="invalid_value", error_param="seed"),
    "secret-error": Behaviour(status=500, error_message=f"key {SECRET} refused by {HOST}: traceback (most recent …)"),
    "slow": Behaviour(token_delay_ms=50),
    "sse-bytewise": Behaviour(framing="bytewise"),
    "sse-coalesced": Behaviour(framing="coalesced"),
    "sse-comments": Behaviour(framing="comments"),
    "sse-crlf": Behaviour(framing="crlf"),
    "sse-multiline": Behaviour(framing="multiline"),
    "sse-split-lines": Behaviour(framing="split_lines"),
    "sse-split-utf8": Behaviour(framing="split_utf8", text="naïve 日本語 🙂🙃 fin"),
    "swapped": Behaviour(form="swapped"),
    "truncated-json": Behaviour(form="truncated"),
    "unauthorized": Behaviour(
        status=401,
        error_code="invalid_api_key",
        error_message=f"Incorrect API key provided: {SECRET}.",
    ),
    "unavailable": Behaviour(status=503),
    "usage-boolean": Behaviour(usage="boolean"),
    "usage-fractional": Behaviour(usage="fractional"),
    "usage-huge": Behaviour(usage="huge"),
    "usage-infinite": Behaviour(usage="infinite"),
    "usage-missing": Behaviour(usage="missing"),
    "usage-negative": Behaviour(usage="negative"),
    "usage-null": Behaviour(usage="null"),
    "usage-over-cap": Behaviour(usage="over_cap"),
    "usage-partial": Behaviour(usage="partial"),
    "usage-string": Behaviour(usage="string"),
    "wrong-type": Behaviour(content_type="text/html; charset=utf-8"),
}


@dataclass(slots=True)
class Script:
    """Responds to the next `times` matching requests as `behaviour` says."""

    behaviour: Behaviour
    model: str | None = None
    path: str | None = None
    times: int = 1

    def matches(self, *request: str) -> bool:
        """Return whether this script matches a request to this path, for this model; None matches all."""
        path, model = request
        return self.model in {None, model} and self.path in {None, path}


def from_model(model: str) -> Behaviour:
    """Parse the behavior in a model's name: "<preset or any name>[?field=value&…]"."""
    name, _, query = model.partition("?")
    preset = PRESETS.get(name, HONEST)
    return Behaviour.parse(dict(parse_qsl(query)), preset) if query else preset


HONEST = Behaviour()
