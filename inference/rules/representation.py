"""Representations: the properties that two vectors must share to be comparable. SPEC: Embedding representation."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest, ModelUnavailable
from gateway.core.contract.values import value_class
from gateway.core.json.pieces import canonical
from inference.interface.answer import Answer
from inference.interface.model import ServedModel
from inference.rules.json_body import BoundedJson
from inference.rules.usage import read_total

INPUT_TYPES = ("query", "document")

INPUT_OVERHEAD_TOKENS = 32
"""The tokens that a model may add to one input: start and end marks, a sentence that distinguishes queries from
documents, the padding of a short query. Vendors use 2 to 32."""


class ContradictedError(Exception):
    """An upstream responded with a different representation than requested."""


@dataclass(frozen=True, slots=True)
class Representation:
    """One configuration of vectors. A member that the operator did not configure is None until a response states it."""

    alias: str
    provider: str
    model: str
    quantization: str
    revision: str | None = None
    dimensions: int | None = None
    normalized: bool | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether all members are known."""
        return None not in (self.revision, self.dimensions, self.normalized)

    @property
    def configuration(self) -> str:
        """Return what is known before a response, as the key under which responses' facts are stored."""
        return canonical(self.manifest(None)).decode()

    @property
    def manifest_id(self) -> str:
        """Return the hex SHA-256 of the compact, key-sorted JSON of the manifest without `input_type`."""
        members = self.manifest(None)
        del members["input_type"]
        return hashlib.sha256(canonical(members)).hexdigest()

    def manifest(self, input_type: str | None) -> dict[str, Any]:
        """Render the manifest of vectors of this input type."""
        return {
            "alias": self.alias,
            "provider": self.provider,
            "model": self.model,
            "revision": self.revision,
            "dimensions": self.dimensions,
            "quantization": self.quantization,
            "normalized": self.normalized,
            "input_type": input_type,
        }

    def completed(self, revision: str, dimensions: int, normalized: bool | None) -> "Representation":
        """Return it completed with a response's facts; vectors that are not stated to be normalized are not. Raises
        ContradictedError if a fact differs from a known one."""
        if normalized is None:
            normalized = bool(self.normalized)
        stated = {"revision": revision, "dimensions": dimensions, "normalized": normalized}
        for name, value in stated.items():
            if getattr(self, name) not in (None, value):
                raise ContradictedError(f"{name} is {value!r}, not {getattr(self, name)!r}")
        return replace(self, revision=revision, dimensions=dimensions, normalized=normalized)


def representation_of(
    model: ServedModel, adapters: Collection[str], *, dimensions: int | None, quantization: str
) -> Representation:
    """Return the known part of an alias's representation before a call, with the requested dimensions.

    `adapters` are those whose answers on the route are representations. Raises ModelUnavailable if no upstream has one, or if several would serve different ones: vectors
    under one alias must be comparable.
    """
    served = {(at.upstream.adapter, at.model) for at in model.deployments}
    if len(served) != 1 or not all(adapter in adapters for adapter, _ in served):
        raise ModelUnavailable("This model has no representation upstream.", private=f"{model.name}: {sorted(served)}")
    [(adapter, name)] = served
    options = model.options
    return Representation(
        alias=model.name,
        provider=options.get("provider") or adapter,
        model=name,
        quantization=quantization,
        revision=options.get("revision"),
        dimensions=dimensions or options.get("dimensions"),
        normalized=options.get("normalized"),
    )


def read_input_type(body: Mapping[str, Any], *, required: bool = False) -> str | None:
    """Read `input_type`, or raise InvalidRequest."""
    value = body.get("input_type")
    if value in INPUT_TYPES or (value is None and not required):
        return value if isinstance(value, str) else None
    raise InvalidRequest("input_type must be query or document.", param="input_type")


@value_class(frozen=True)
class BoundedRepresentation(BoundedJson):
    """A request whose response has a manifest. `bound` is the maximum of its input."""

    representation: Representation
    input_type: str | None
    bound: Quantities
    prices: PriceList

    @property
    def bounds(self) -> Mapping[str, int]:
        return self.bound.counts()

    def usage(self, answer: Answer) -> Quantities:
        """Read `input_tokens`, as the endpoints name it; the gateway itself counts bytes and items."""
        usage = answer.usage or {}
        needed = self.prices.needs_token_usage
        tokens = read_total(usage, "input_tokens") if needed else usage.get("input_tokens")
        return replace(self.bound, input_tokens=tokens)

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Return the response's facts about the representation if they are new, as members for
        `inference_close_representations`."""
        if self.representation.is_complete:
            return {}
        manifest = answer.body["manifest"]
        stated = {name: manifest[name] for name in ("revision", "dimensions", "normalized")}
        return {"configuration": self.representation.configuration, **stated}


def input_bound(size_bytes: int, inputs: int) -> int:
    """Bound the tokens of inputs by the size of their JSON: no tokenizer makes more tokens than bytes."""
    return size_bytes + inputs * INPUT_OVERHEAD_TOKENS
