"""A judgement's body, and the models that it may go to."""

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
    """A strictly parsed body, with the catalogue as it is when the request arrives."""

    sent: JsonBody
    catalogue: Catalogue

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the body's members."""
        return self.sent.members

    @property
    def is_large(self) -> bool:
        """Return whether checking it would keep the event loop long."""
        return self.sent.is_large

    @property
    def digest(self) -> bytes:
        """Return what a repeated request is known by."""
        return self.sent.digest

    @property
    def model(self) -> str:
        """Return the alias that is asked for: the default text backend's where none is. Raises InvalidRequest."""
        return TEXT_ALIAS if self.members.get("model") is None else self.sent.model


async def read_judgement(request: MeteredRequest) -> JudgementBody:
    """Read and parse a body. Raises the catalogue's error."""
    return JudgementBody(await read_json_with_images(request), await catalogue.current())
