"""Reads a judgement's body, selects its backend, checks it, and finds the fallback."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.plan import Endpoints, endpoint_for
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRequest
from inference.queries import catalogue
from inference.queries.catalogue import Catalogue
from inference.rules.json_body import JsonBody
from judgement.queries.choices import TEXT_ALIAS, VISION_ALIAS
from judgement.route.bound import Valid
from judgement.route.request import JudgementRequest, read_request


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
    def body_sha256(self) -> bytes:
        """Return the SHA-256 of the body as it was sent."""
        return self.sent.body_sha256

    @property
    def model(self) -> str:
        """Return the requested alias, by default that of the default text backend. Raises InvalidRequest."""
        return TEXT_ALIAS if self.members.get("model") is None else self.sent.model


async def read_judgement(request: MeteredRequest) -> JudgementBody:
    """Read and parse a body. Raises the catalogue's errors."""
    return JudgementBody(await read_json_with_images(request), await catalogue.current())


def check(body: JudgementBody, model: ServedModel, *, endpoints: Endpoints) -> Valid:
    """Validate a request, or raise the error that names the invalid member. Backends are aliases; raw models are
    refused.
    """
    if model.issuers is not None:
        raise InvalidRequest(f"{model.name} is not a judgement backend.", param="model")
    takes_images = _takes_images(body.catalogue, model) or not model.is_served
    params = read_request(body.members, takes_images=takes_images, is_large=body.is_large)
    return Valid(params, _fallback(body.catalogue, model, params, endpoints) if params.allows_fallback else None)


def _takes_images(catalogue: Catalogue, model: ServedModel) -> bool:
    return catalogue.choices.selected.get(VISION_ALIAS) == model.name


def _fallback(
    catalogue: Catalogue, model: ServedModel, params: JudgementRequest, endpoints: Endpoints
) -> tuple[ServedModel, PriceVersion] | None:
    """Return the fallback and its price, if the operator has set one that can serve this request."""
    other = catalogue.models.get(catalogue.choices.fallbacks.get(model.name, ""))
    price = other.price_at(datetime.now(UTC)) if other and other.is_served else None
    if other is None or price is None or not price.prices.serves(Route.JUDGEMENT):
        return None
    if params.images and not _takes_images(catalogue, other):
        return None
    can_be_sent = any(endpoint_for(Route.JUDGEMENT, endpoints, deployment) for deployment in other.deployments)
    return (other, price) if can_be_sent and Route.JUDGEMENT in other.routes else None
