"""What embeddings tell the metering core of themselves."""

from gateway.core.contract.aliases import Route
from inference.metering.json_route import read_json
from inference.metering.route import MeteredRoute
from inference.routes.embeddings.bound import bound_embeddings
from inference.routes.embeddings.demo import DemoEmbeddings
from inference.routes.embeddings.openai import OpenAIEmbeddings
from inference.routes.embeddings.request import read_request

EMBEDDINGS = MeteredRoute(
    name=Route.EMBEDDINGS,
    id_prefix="emb",
    read=read_json,
    check=read_request,
    bound=bound_embeddings,
    endpoints={"openai": OpenAIEmbeddings(), "demo": DemoEmbeddings()},
)
