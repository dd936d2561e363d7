"""Reads a judgement's body and selects its backend."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRequest
from inference.queries import catalogue
from inference.queries.catalogue import Catalogue
from inference.rules.json_body import JsonBody
from judgement.queries.choices import TEXT_ALIAS


@dataclass(frozen=True, slots=True)
class JudgementBody:
    """A strictly parsed body, with the catalogue at the time of the request."""

    sent: JsonBody
    catalogue: Catalogue

    @property
    def members(self) -> Mapping[str, Any]:
        return self.sent.members

    @property
    def is_large(self) -> bool:
        """Return whether checking it would block the event loop for long."""
        return self.sent.is_large

    @property
    def digest(self) -> bytes:
        """Return the fingerprint by which a repeated request is recognized."""
        return self.sent.digest

    @property
    def model(self) -> str:
        """Return the requested alias, by default that of the default text backend. Raises InvalidRequest."""
        return TEXT_ALIAS if self.members.get("model") is None else self.sent.model


async def read_judgement(request: MeteredRequest) -> JudgementBody:
    """Read and parse a body. Raises the catalogue's errors."""
    return JudgementBody(await read_json_with_images(request), await catalogue.current())
