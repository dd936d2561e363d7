"""The text types of rows: slugs, names, scopes, DIDs, times."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationInfo

from accounts.rules import dids, scopes
from gateway.config.context import context_of
from gateway.core.api.times import read_rfc3339
from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import INFER_PREFIX, Capability
from gateway.core.contract.names import shows_as_written

AMOUNT_MAX_MICROUSD = 10**15  # a billion USD


def matching(pattern: str, words: str) -> AfterValidator:
    """Refuse text that does not fully match the pattern, with this message."""
    compiled = re.compile(pattern)
    return checked(lambda value: compiled.fullmatch(value) is not None, words)


def reference(kind: str, noun: str) -> AfterValidator:
    """Refuse a name that no row of that kind has, neither in the file nor in the database."""

    def check(value: str, info: ValidationInfo) -> str:
        if not context_of(info).has(kind, value):
            raise ValueError(f"there is no {noun} {value!r}")
        return value

    return AfterValidator(check)


def checked(test: Callable[[str], bool], words: str) -> AfterValidator:
    """Refuse text that fails the test, with this message."""

    def check(value: str) -> str:
        if not test(value):
            raise ValueError(words)
        return value

    return AfterValidator(check)


def _capability(value: str, info: ValidationInfo) -> str:
    model = value.removeprefix(INFER_PREFIX)
    if value in set(Capability) or value == f"{INFER_PREFIX}*":
        return value
    if not value.startswith(INFER_PREFIX):
        raise ValueError("this is not a capability")
    if not (context_of(info).has("models", model) and scopes.is_scope(value)):
        raise ValueError(f"there is no alias or raw model {model!r}")
    return value


def _timestamp(value: object) -> datetime:
    """Read a time (RFC 3339 section 5.6); a time without an offset is ambiguous and refused."""
    try:
        return read_rfc3339(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError('must be a time such as "2027-01-31T00:00:00Z"') from None


Slug = Annotated[str, matching(r"[a-z0-9][a-z0-9_-]{0,63}", "must be a slug: a-z, 0-9, - and _, at most 64 characters")]
Label = Annotated[
    str,
    StringConstraints(min_length=1, max_length=120),
    matching(r"\S(?:.*\S)?", "must be one line without leading or trailing spaces"),
    checked(shows_as_written, "must not contain control characters or characters that change the direction of text"),
]
UpstreamName = Annotated[
    str, matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", "must be letters, digits and . _ -, at most 128 characters")
]
ModelName = Annotated[
    str,
    matching(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}", "must be letters, digits and . _ : / @ -, at most 200 characters"),
]
UpstreamModel = Annotated[
    str, matching(r"[\x21-\x7e]{1,200}", "must be 1 to 200 printable ASCII characters without spaces")
]
RouteName = Annotated[str, checked(set(Route).__contains__, f"must be one of {', '.join(Route)}")]
GrantKey = Annotated[str, matching(r"[\x21-\x7e]{1,255}", "must be 1 to 255 printable ASCII characters without spaces")]
Audience = Annotated[str, matching(r"[\x21-\x7e]{1,255}", "must be 1 to 255 printable ASCII characters without spaces")]
Microusd = Annotated[int, Field(ge=0, le=AMOUNT_MAX_MICROUSD)]
Did = Annotated[str, checked(dids.is_did, "this is not a DID")]
DidPrefix = Annotated[
    str,
    StringConstraints(max_length=255),
    checked(dids.is_prefix, "this is not a DID prefix, such as did:web:studio.example:"),
]
Scope = Annotated[str, StringConstraints(max_length=255), AfterValidator(_capability)]
Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]
