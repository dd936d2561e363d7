"""What a valid request asks for, and what is particular to the route that it came by."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from billing.rules.prices import PriceBook
from billing.rules.quantities import Quantities
from gateway.contract.aliases import Route
from inference.rules.delivery import Delivered
from inference.rules.model import ServedModel


@dataclass(frozen=True, slots=True)
class Demand:
    """A validated request, before its price. `body` goes upstream but for an output limit that is still to be set.

    `bound` holds the most that the input can count, `estimate` what it probably counts (for a stream that breaks off).
    `output_limit` is the client's own, per choice; `limit_field` names the member for one that is set here, None on
    routes without output. `has_sound` says that the input carries audio.
    """

    body: Mapping[str, Any]
    bound: Quantities
    estimate: Quantities
    choices: int = 1
    output_limit: int | None = None
    limit_field: str | None = None
    stream: bool = False
    show_usage: bool = False
    has_sound: bool = False

    def delivered_so_far(self, delivered: Delivered) -> Quantities:
        """Estimate what a stream that broke off has cost: its input, and the output that was seen."""
        return replace(self.estimate, output_tokens=delivered.tokens_estimated)


class RouteRules(Protocol):
    """What is particular to one metered route; everything else is the same for all (`inference.operations.calls`)."""

    route: Route
    body_max_bytes: int
    id_prefix: str

    def read(self, body: Mapping[str, Any], size_bytes: int, model: ServedModel) -> Demand:
        """Validate a request; `size_bytes` is its compact JSON's. Raises InvalidRequest naming the member at fault."""

    def read_usage(self, usage: Mapping[str, Any], demand: Demand, prices: PriceBook) -> Quantities:
        """Read what the upstream counted. Raises MissingUsage where the price needs more, or MalformedUsage."""

    def as_events(self, body: Mapping[str, Any], demand: Demand) -> bytes:
        """Render a whole answer as the event stream that was asked for, with its terminator."""
