"""Checks an embedding request; if it pins a manifest, the upstream's latest answer is read first."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from accounts.rules.principal import Principal
from gateway.core.contract.errors import ManifestMismatch
from inference.interface.model import ServedModel
from inference.metering.route import PendingRequest
from inference.queries.representations import with_latest_facts
from inference.routes.embeddings.represented_request import (
    RepresentedRequest,
    Vendors,
    read_represented,
    selects_representation,
)
from inference.routes.embeddings.request import EmbeddingRequest, read_request
from inference.rules.json_body import JsonBody

Valid = EmbeddingRequest | RepresentedRequest


@dataclass(frozen=True, slots=True)
class Pinning(PendingRequest[Valid]):
    """A valid request that pins one representation."""

    request: RepresentedRequest

    async def load(self, principal: Principal, take_memory: Callable[[int], None]) -> RepresentedRequest:
        """Compare the pinned manifest with the current one. Raises ManifestMismatch."""
        known = await with_latest_facts(self.request.representation)
        if known is None or known.manifest_id != self.request.manifest_id:
            raise ManifestMismatch(param="manifest_id")
        return replace(self.request, representation=known)


def check(sent: JsonBody, model: ServedModel, *, vendors: Vendors) -> Valid | Pinning:
    """Validate a request, or raise the error that names the member at fault."""
    if not selects_representation(sent.members, model, vendors):
        return read_request(sent, model)
    request = read_represented(sent, model, vendors)
    return request if request.manifest_id is None else Pinning(request)
