"""Declares the embedding route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS
from inference.interface.plan import require_vendors
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.embeddings.bound import bound_embeddings
from inference.routes.embeddings.check import Valid, check
from inference.routes.embeddings.fetching import fetch_images
from inference.rules.json_body import JsonBody
from inference.rules.representation import DENSE_ADAPTERS, PLAIN_ADAPTERS

EMBEDDINGS: MeteredRoute[JsonBody, Valid] = MeteredRoute(
    name=Route.EMBEDDINGS,
    id_prefix="emb",
    read=read_json_with_images,
    check=check,
    bound=bound_embeddings,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.EMBEDDINGS],
    close_function=CLOSE_AND_NOTE,
)
require_vendors("kinds of embeddings", DENSE_ADAPTERS | PLAIN_ADAPTERS, EMBEDDINGS.endpoints)
