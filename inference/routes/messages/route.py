"""`POST /v1/messages`: the route's declaration for the metering core, and its view."""

from functools import partial

from billing.rules.quantities import Quantities
from gateway.core.api.access import requires_model, requires_model_free_of_charge
from gateway.core.api.async_viewsets import LeanViewSet
from gateway.core.api.schema import refuses
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import (
    ApiError,
    ImageRejected,
    InputTooLarge,
    ModelNotFound,
    ModelUnavailable,
    RateLimited,
)
from gateway.core.contract.ids import new_id
from gateway.core.http.lean import LeanAnswer, LeanRequest, LeanResponse
from gateway.core.json.strict import dumps
from gateway.core.runtime.offload import offload
from gateway.core.telemetry.observation import COUNT_TOKENS, Observation, Step
from inference.endpoints import ENDPOINTS
from inference.interface.model import ServedModel
from inference.interface.plan import endpoint_for
from inference.interface.upstream import Attempt, CallContext
from inference.metering import admission, opening, trial
from inference.metering.admission import Refused
from inference.metering.bodies import read_json_with_images
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.serving import MeteredViewSet, serve_count
from inference.routes.messages.bound import bound_message, charge_of
from inference.routes.messages.counting import CountHold, CountRequest, CountTokens, read_count_request
from inference.routes.messages.headers import MessageBody, read_betas, read_version
from inference.routes.messages.preparing import prepare
from inference.routes.messages.reference import describe_message_count, describe_messages
from inference.routes.messages.request import read_request
from inference.rules.json_body import JSON_TYPE

INLINE_FILE = b'"base64"'
"""The type of a source whose data is in the request."""


async def read_body(request: MeteredRequest) -> MessageBody:
    """Read the body and the vendor's headers. Raises the catalogue's error."""
    version, betas = read_version(request.raw_headers), read_betas(request.raw_headers)
    body = await read_json_with_images(request, INLINE_FILE)
    return MessageBody(body.members, body.size_bytes, body.digest, body.body_sha256, body.is_large, version, betas)


MESSAGES = MeteredRoute(
    name=Route.MESSAGES,
    id_prefix="msg",
    read=read_body,
    check=read_request,
    bound=bound_message,
    check_prices=charge_of,
    prepare=prepare,
    endpoints=ENDPOINTS[Route.MESSAGES],
)


class MessageCountViewSet(LeanViewSet):
    """The input tokens of messages that are not sent yet."""

    error_style = "messages"

    @describe_message_count
    @refuses(ImageRejected, InputTooLarge, ModelNotFound, ModelUnavailable)
    @requires_model_free_of_charge
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Count the input tokens of a message: as the vendor counts them if it can be asked, else our upper bound."""
        return await serve_count(request, MESSAGES, COUNT_TOKENS, partial(_count, request))


async def _count(request: LeanRequest, observation: Observation) -> LeanAnswer:
    arrival = await admission.authenticate(request, MESSAGES, observation)
    try:
        body = await read_body(request)
        observation.mark(Step.RECEIVED)
        model = await admission.find_model(arrival, body.model)
        admission.check_route(MESSAGES, model)
        count = await offload(read_count_request, body, model) if body.is_large else read_count_request(body, model)
        price = trial.price_of(model)
    except ApiError as error:
        await opening.refuse(Refused(error, "idempotency", arrival))
        raise
    observation.mark(Step.CHECKED)
    hold = CountHold(price.worst_case.cost_microusd(Quantities(input_tokens=count.input_bound)))
    is_covered = await trial.is_covered(arrival, model, price, hold)
    counted = await _ask(model, count, observation) if is_covered else None
    answer = {"input_tokens": count.input_bound if counted is None else counted}
    return LeanResponse(dumps(answer), 200, {"Content-Type": JSON_TYPE})


async def _ask(model: ServedModel, count: CountRequest, observation: Observation) -> int | None:
    """Ask the first upstream that counts, if the request may be sent to it. It is no attempt at a deployment: many upstreams do not
    count, which is no failure."""
    for deployment in model.deployments if count.is_sendable else ():
        endpoint = endpoint_for(Route.MESSAGES, MESSAGES.endpoints, deployment)
        counts: CountTokens | None = getattr(endpoint, "count_tokens", None)
        if counts is not None:
            call = CallContext(new_id("cnt"), model.name, "")
            observation.mark(Step.SENT)
            found = await counts(Attempt(deployment.upstream, deployment.model, CountHold(0), call), count)
            observation.mark(Step.UPSTREAM_DONE)
            return found
    return None


class MessageViewSet(MeteredViewSet):
    """Messages, as JSON or as server-sent events."""

    route = MESSAGES
    error_style = "messages"

    @describe_messages
    @refuses(ImageRejected, RateLimited)
    @requires_model
    async def create(self, request: LeanRequest) -> LeanAnswer:
        """Create a message."""
        return await self.serve(request)
