"""Declares the image route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.endpoints import ENDPOINTS
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.images.bound import bound_images
from inference.routes.images.request import read_request

IMAGES = MeteredRoute(
    name=Route.IMAGES,
    id_prefix="img",
    read=read_json,
    check=read_request,
    bound=bound_images,
    endpoints=ENDPOINTS[Route.IMAGES],
)
