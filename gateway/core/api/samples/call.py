"""What the samples of one operation send: read from its description, written in each language beside this file."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.core.api.samples.example import Schema, example
from gateway.core.api.samples.literals import Expression
from gateway.core.api.schema_components import METERED_PARAMETERS, SECURITY, reference
from gateway.core.contract import headers

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
KEY_MEMBER = "dpop_jwk"
FORM_WITH_FILES = "multipart/form-data"
MAX_COST_EXAMPLE_MICROUSD, MAX_COST_EXAMPLE_USD = 20_000, "0.02"


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `path` has `{names}` for what differs between callers, and `query` their names; `media` is the body's type,
    empty without one; `answers` the type of a successful answer, empty without a body.

    A signed request carries a token and a proof, a proven one a proof alone.
    """

    method: str
    server: str
    path: str
    query: tuple[str, ...]
    is_signed: bool
    is_proven: bool
    is_metered: bool
    is_socket: bool
    media: str
    body: Any
    answers: str

    def address(self, variable: Callable[[str], str]) -> str:
        """Return path and query, in which `variable` writes each name."""
        path = re.sub(r"\{(\w+)\}", lambda found: variable(found[1]), self.path)
        named = "&".join(f"{name}={variable(name)}" for name in self.query)
        return f"{path}?{named}" if named else path

    @property
    def computed_body(self) -> Any:
        """Return the body of a program that has a `key`, whose public part it names."""
        return {**self.body, KEY_MEMBER: Expression("key.jwk")} if KEY_MEMBER in self.body else self.body

    @property
    def file_fields(self) -> dict[str, str]:
        """Return the form's files, each with its name."""
        return {name: value[1:] for name, value in self.body.items() if value.startswith("@")}

    @property
    def text_fields(self) -> dict[str, str]:
        """Return the form's other fields."""
        return {name: value for name, value in self.body.items() if not value.startswith("@")}


def call_of(method: str, path: str, operation: Schema, result: Schema) -> Call:
    """Read an operation of the document."""
    parameters = operation.get("parameters", ())
    content = operation.get("requestBody", {}).get("content", {})
    no_body: tuple[str, Schema] = ("", {})
    media, described = next(iter(content.items()), no_body)
    return Call(
        method=method.upper(),
        server=result["servers"][0]["url"],
        path=path,
        query=tuple(each["name"] for each in parameters if each.get("in") == "query" and each.get("required")),
        is_signed=SECURITY in operation["security"],
        is_proven=any(parameter.get("name") == headers.DPOP for parameter in parameters),
        is_metered=reference("parameters", METERED_PARAMETERS[-1]) in parameters,
        is_socket="101" in operation["responses"],
        media=media,
        body=example("", described["schema"], result["components"]["schemas"]) if media else None,
        answers=_answers(operation),
    )


def _answers(operation: Schema) -> str:
    """Return the media type of the first successful answer."""
    first = next(described for status, described in operation["responses"].items() if status < "300")
    return next(iter(first.get("content", {})), "")
