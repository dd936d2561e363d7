"""Validates an embedding request that selects a representation. SPEC: Embedding rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.embeddings.capabilities import Capabilities, Representations
from inference.routes.embeddings.items import Input, has_parts, images_of, read_inputs, texts_of
from inference.routes.embeddings.members import REPRESENTED_MEMBERS
from inference.routes.embeddings.request import DIMENSIONS_MAX, read_encoding
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, read_flag, refuse_members
from inference.rules.representation import (
    Representation,
    input_bound,
    read_input_type,
    representation_of,
)

SELECTING_MEMBERS = ("input_type", "manifest_id", "truncation")
QUANTIZATION = "float"

Vendors = Mapping[str, Capabilities]
"""The capabilities of each adapter that serves this route."""


@dataclass(frozen=True, slots=True)
class RepresentedRequest:
    """A valid request for representations. `dimensions` are the client's or the operator's, and `manifest_id` is the
    client's; None if unspecified.

    `bound` excludes the tokens of images; `image_tokens` is the most that one image may count, None if unknown.
    """

    body: Mapping[str, Any]
    is_large: bool
    inputs: tuple[Input, ...]
    input_type: str | None
    truncation: bool
    dimensions: int | None
    as_base64: bool
    manifest_id: str | None
    representation: Representation
    bound: Quantities
    image_tokens: int | None


def selects_representation(body: Mapping[str, Any], model: ServedModel, vendors: Vendors) -> bool:
    """Return whether a request selects a representation: by a member, by an image, or by its upstream."""
    if any(body.get(name) is not None for name in SELECTING_MEMBERS) or has_parts(body.get("input")):
        return True
    return any(vendor.representations is Representations.ALWAYS for vendor in _vendors_of(model, vendors))


def read_represented(sent: JsonBody, model: ServedModel, vendors: Vendors) -> RepresentedRequest:
    """Validate a request for representations. Raises InvalidRequest or ImageRejected naming the member at fault, or
    ModelUnavailable if no upstream of the model serves them."""
    body = sent.members
    refuse_members(body, REPRESENTED_MEMBERS)
    inputs = read_inputs(body.get("input"))
    wanted = read_count(body, "dimensions", most=DIMENSIONS_MAX)
    as_base64 = read_encoding(body) == "base64"
    is_required = any(vendor.requires_input_type for vendor in _vendors_of(model, vendors))
    input_type = read_input_type(body, required=is_required)
    truncation, manifest_id = read_flag(body, "truncation"), _manifest_id(body)
    has_images = any(images_of(inputs))
    representation = representation_of(model, _representing(vendors), dimensions=wanted, quantization=QUANTIZATION)
    return RepresentedRequest(
        body=body,
        is_large=sent.is_large or has_images,
        inputs=inputs,
        input_type=input_type,
        truncation=truncation,
        dimensions=representation.dimensions,
        as_base64=as_base64,
        manifest_id=manifest_id,
        representation=representation,
        bound=_bound(inputs),
        image_tokens=model.context_tokens,
    )


def _vendors_of(model: ServedModel, vendors: Vendors) -> list[Capabilities]:
    """Return what the vendors that serve a model can do. An adapter that does not serve this route has no capabilities."""
    return [vendors[at.upstream.adapter] for at in model.deployments if at.upstream.adapter in vendors]


def _representing(vendors: Vendors) -> frozenset[str]:
    return frozenset(name for name, each in vendors.items() if each.representations is not Representations.NEVER)


def _bound(inputs: tuple[Input, ...]) -> Quantities:
    text_bytes = sum(len(text.encode()) for text in texts_of(inputs))
    tokens = input_bound(text_bytes, len(inputs))
    return Quantities(input_tokens=tokens, input_bytes=text_bytes, items=len(inputs))


def _manifest_id(body: Mapping[str, Any]) -> str | None:
    value = body.get("manifest_id")
    if value is None or (isinstance(value, str) and value):
        return value
    raise InvalidRequest("manifest_id must be a string.", param="manifest_id")
