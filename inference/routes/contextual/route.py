"""Declares the contextual embedding route to the metering core."""

from functools import partial

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS, adapters_of
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.contextual.bound import bound_contextual
from inference.routes.contextual.request import read_request

CONTEXTUAL = MeteredRoute(
    name=Route.EMBEDDINGS_CONTEXTUAL,
    id_prefix="emb",
    read=read_json,
    check=partial(read_request, adapters=adapters_of(Route.EMBEDDINGS_CONTEXTUAL)),
    bound=bound_contextual,
    endpoints=ENDPOINTS[Route.EMBEDDINGS_CONTEXTUAL],
    close_function=CLOSE_AND_NOTE,
)
