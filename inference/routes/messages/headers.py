"""The vendor's request headers: which version of its API a client speaks, and which betas it asks for."""

import re

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.rules.json_body import JsonBody

VERSION, BETA = "anthropic-version", "anthropic-beta"
DEFAULT_VERSION = "2023-06-01"

COSTLY_BETAS = ("advisor-", "code-execution-", "compact-", "fast-mode-", "mcp-client-", "skills-")
"""Beginnings of betas that make the provider run more than the model, or at another price."""

LONG_CONTEXT_BETA = "context-1m-"
LONG_CONTEXT_TOKENS = 1_000_000
"""The context that this beta gives to models with a shorter one."""

_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
BETAS_MAX = 32


@value_class(frozen=True, slots=True)
class MessageBody(JsonBody):
    """A parsed body with the vendor's headers: None if the client named no version."""

    version: str | None = None
    betas: tuple[str, ...] = ()


def read_version(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Read the version, None if it is absent. Raises InvalidRequest."""
    sent = [value.decode("latin-1").strip() for name, value in headers if name == VERSION.encode()]
    if not sent:
        return None
    if len(sent) > 1 or not _VERSION.fullmatch(sent[0]):
        raise InvalidRequest(f'{VERSION} must be a date, such as "{DEFAULT_VERSION}".', param=VERSION)
    return sent[0]


def headers_of(version: str | None, betas: tuple[str, ...]) -> dict[str, str]:
    """Return the headers that send both on."""
    return {VERSION: version or DEFAULT_VERSION, **({BETA: ",".join(betas)} if betas else {})}


def read_betas(headers: list[tuple[bytes, bytes]]) -> tuple[str, ...]:
    """Read the betas in order. Raises InvalidRequest for one that changes the cost of a call without a bound."""
    sent = ",".join(value.decode("latin-1") for name, value in headers if name == BETA.encode())
    betas = tuple(dict.fromkeys(name for part in sent.split(",") if (name := part.strip())))
    if len(betas) > BETAS_MAX or not all(map(_NAME.fullmatch, betas)):
        raise InvalidRequest(f"{BETA} must be a list of at most {BETAS_MAX} names.", param=BETA)
    for name in betas:
        if name.lower().startswith(COSTLY_BETAS):
            raise InvalidRequest(f"The beta {name} is not supported: no price covers what it may cost.", param=BETA)
    return betas
