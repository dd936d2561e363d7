"""Declares the response route to the metering core."""

from gateway.core.contract.aliases import Route
from gateway.core.database import BatchFunction
from inference.metering.json_route import read_json_with_images
from inference.metering.route import MeteredRoute
from inference.routes.responses.bound import bound_response
from inference.routes.responses.check import check
from inference.routes.responses.fetching import fetch_images
from inference.routes.responses.record import ID_PREFIX
from inference.vendors.demo.responses.endpoint import DemoResponses
from inference.vendors.openai.responses.endpoint import OpenAIResponses
from inference.vendors.openai.responses.over_chat import ResponsesOverChat

CLOSE_AND_STORE = BatchFunction(0, "inference_close_responses")

RESPONSES = MeteredRoute(
    name=Route.RESPONSES,
    id_prefix=ID_PREFIX,
    read=read_json_with_images,
    check=check,
    bound=bound_response,
    prepare=fetch_images,
    endpoints={
        "openai": OpenAIResponses(),
        ("openai", Route.CHAT_COMPLETIONS): ResponsesOverChat(),
        "demo": DemoResponses(),
    },
    close_function=CLOSE_AND_STORE,
)
