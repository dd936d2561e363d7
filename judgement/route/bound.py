"""Judgements bound to a backend: hold, usage and answer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.limits import JUDGEMENT_BRANCH_MAX_TOKENS
from gateway.core.contract.values import value_class
from gateway.core.json.strict import dumps
from inference.interface.answer import Answer, Content
from inference.interface.model import PriceVersion, ServedModel
from inference.interface.request import Fallback
from inference.rules.images import Image
from inference.rules.json_body import JSON_TYPE, BoundedJson
from inference.rules.terms import within
from inference.rules.usage import read_part, read_total
from judgement.route.request import JudgementRequest, RemoteImage
from judgement.rules.prompt import messages, output_tokens
from judgement.rules.tally import tally

FRAME_TOKENS = 1024
"""The tokens that a backend may add to one question and its state, or a vendor to the messages of a chat."""


@value_class(frozen=True, slots=True)
class Valid:
    """A valid request, and the model and price of its fallback, if any."""

    params: JudgementRequest
    fallback: tuple[ServedModel, PriceVersion] | None = None

    @property
    def is_large(self) -> bool:
        """Return whether serializing it would block the event loop for long."""
        return self.params.is_large


@value_class(frozen=True)
class BoundedJudgement(BoundedJson):
    """A judgement for one backend, whose alias is `backend`. `overloaded` is the alias that it answers in place of, if any. The
    hold covers `most` at the prices of `held_at`, which may be the fallback's."""

    params: JudgementRequest
    prices: PriceList
    backend: str
    most: Quantities
    held_at: PriceVersion
    images: tuple[Image | RemoteImage, ...] = ()
    overloaded: str | None = None
    fallback: Fallback | None = None

    @property
    def used_fallback(self) -> dict[str, str] | None:
        """Return the answer's `fallback` member."""
        return {"from": self.overloaded, "to": self.backend, "reason": "overloaded"} if self.overloaded else None

    @property
    def needs_preparing(self) -> bool:
        """Return whether images must be fetched before the call."""
        return any(isinstance(image, RemoteImage) for image in self.images)

    @property
    def image_urls(self) -> list[str]:
        """Return the images, which must have been fetched, as data URLs."""
        return [image.url for image in self.images]

    def with_images(self, images: tuple[Image, ...]) -> "BoundedJudgement":
        """Return the request with the fetched images, which the fallback uses, too."""
        fallback = self.fallback
        if fallback is not None and isinstance(fallback.request, BoundedJudgement):
            fallback = replace(fallback, request=fallback.request.with_images(images))
        return replace(self, images=images, fallback=fallback)

    @property
    def bounds(self) -> Mapping[str, int]:
        return {"price_version": self.held_at.id, **self.most.counts()}

    def usage(self, answer: Answer) -> Quantities:
        """Read the usage: `input_tokens`, and for a chat completion its other counts."""
        usage = answer.usage or {}
        needed = self.prices.needs_token_usage
        return Quantities(
            input_tokens=read_total(usage, "input_tokens") if needed else usage.get("input_tokens"),
            cached_input_tokens=read_part(usage, "input_tokens_details", "cached_tokens"),
            output_tokens=usage.get("output_tokens"),
        )

    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render the answer. Its `input_tokens` is null if the backend did not report it."""
        usage = {"input_tokens": (answer.usage or {}).get("input_tokens")}
        return Content(JSON_TYPE, dumps({**answer.body, "usage": usage}))

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Return the counts of the answers by tenth, for the operator's page."""
        return {"identity": answer.body["model"], "tally": tally(self.params.questions, answer.body["answers"])}


def bound_judgement(valid: Valid, model: ServedModel, price: PriceVersion, max_cost_microusd: int) -> BoundedJudgement:
    """Compute the hold: the higher of the costs at the backend and at its fallback.

    Raises MaxCostExceeded with what the request needs.
    """
    params, most = valid.params, _most(valid.params, model)
    needed = price.worst_case.cost_microusd(most)
    if valid.fallback is None:
        hold = within(needed, max_cost_microusd)
        return _bounded(params, model=model, price=price, hold_microusd=hold, most=most, held_at=price)
    other, other_price = valid.fallback
    other_most, held_at = _most(params, other), price
    if (needed_there := other_price.worst_case.cost_microusd(other_most)) > needed:
        needed, most, held_at = needed_there, other_most, other_price
    terms: dict[str, Any] = {"hold_microusd": within(needed, max_cost_microusd), "most": most, "held_at": held_at}
    sent_there = _bounded(params, model=other, price=other_price, overloaded=model.name, **terms)
    return _bounded(params, model=model, price=price, fallback=Fallback(other, other_price, sent_there), **terms)


def _most(params: JudgementRequest, model: ServedModel) -> Quantities:
    """Return the most tokens that a backend can use, branch by branch or in one prompt. An image's tokens cannot be
    computed from its size, so the model's context is the bound.
    """
    prompt = messages(params.state, params.questions, ())
    one_prompt = sum(len(message["content"].encode()) for message in prompt) + FRAME_TOKENS
    tokens = max(params.branch_tokens_max(FRAME_TOKENS), one_prompt)
    if params.images:
        tokens = max(tokens, one_prompt + JUDGEMENT_BRANCH_MAX_TOKENS, model.context_tokens or 0)
    overhead = model.options.get("input_overhead_tokens")
    tokens += max(overhead, 0) if type(overhead) is int else 0
    return Quantities(input_tokens=tokens, output_tokens=output_tokens(params.questions))


def _bounded(params: JudgementRequest, *, model: ServedModel, price: PriceVersion, **terms: Any) -> BoundedJudgement:
    body = {"state": params.state, "questions": {question.name: question.sent for question in params.questions}}
    is_large = params.is_large or bool(params.images)
    return BoundedJudgement(
        body=body,
        is_large=is_large,
        params=params,
        prices=price.prices,
        backend=model.name,
        images=params.images,
        **terms,
    )
