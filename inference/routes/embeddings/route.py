"""Declares the embedding route to the metering core."""

from functools import partial

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS, stated
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.queries.representations import CLOSE_AND_NOTE
from inference.routes.embeddings.bound import bound_embeddings
from inference.routes.embeddings.capabilities import Capabilities
from inference.routes.embeddings.check import Valid, check
from inference.routes.embeddings.fetching import fetch_images
from inference.rules.json_body import JsonBody

EMBEDDINGS: MeteredRoute[JsonBody, Valid] = MeteredRoute(
    name=Route.EMBEDDINGS,
    id_prefix="emb",
    read=read_json_with_images,
    check=partial(check, vendors=stated(Route.EMBEDDINGS, "capabilities", Capabilities)),
    bound=bound_embeddings,
    prepare=fetch_images,
    endpoints=ENDPOINTS[Route.EMBEDDINGS],
    close_function=CLOSE_AND_NOTE,
)
