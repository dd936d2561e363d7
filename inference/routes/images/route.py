"""Declares the image route to the metering core."""

from gateway.core.contract.aliases import Route
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.images.bound import bound_images
from inference.routes.images.request import read_request
from inference.vendors.demo.images.endpoint import DemoImages
from inference.vendors.openai.images.endpoint import OpenAIImages

IMAGES = MeteredRoute(
    name=Route.IMAGES,
    id_prefix="img",
    read=read_json,
    check=read_request,
    bound=bound_images,
    endpoints={"openai": OpenAIImages(), "demo": DemoImages()},
)
