"""Declares the judgement route for the metering core."""

from functools import partial

from gateway.core.contract.aliases import Route
from gateway.core.contract.capabilities import Capability
from gateway.core.database import BatchFunction
from inference.metering.route import MeteredRoute
from inference.rules.terms import read_terms_with_optional_key
from judgement.endpoints import ENDPOINTS
from judgement.route.body import read_judgement
from judgement.route.bound import bound_judgement
from judgement.route.check import check
from judgement.route.fetching import fetch_images

CLOSE_AND_COUNT = BatchFunction(0, "judgement_close_calls")

JUDGEMENT = MeteredRoute(
    name=Route.JUDGEMENT,
    id_prefix="jdg",
    read=read_judgement,
    check=partial(check, endpoints=ENDPOINTS),
    bound=bound_judgement,
    prepare=fetch_images,
    endpoints=ENDPOINTS,
    scopes=lambda model: (Capability.JUDGEMENT_EVALUATE,),
    terms=read_terms_with_optional_key,
    close_function=CLOSE_AND_COUNT,
)
