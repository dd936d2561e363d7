"""Judgements at backends that speak the gateway's own protocol: `POST <base_url>/judge`."""

from dataclasses import replace
from typing import Any

from inference.adapters import errors
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.upstream import Attempt, Outcome, Overloaded
from judgement.route.answer import judgement_of, too_large
from judgement.route.bound import BoundedJudgement
from judgement.rules.answers import MalformedAnswer, read_answers

OVERLOADED = "overloaded"


class JudgementProtocol(JsonEndpoint[BoundedJudgement]):
    """Sends the questions unchanged, and reads probabilities by question and label."""

    path = "/judge"

    def body(self, attempt: Attempt[BoundedJudgement], *, streams: bool) -> dict[str, Any]:
        images = attempt.request.image_urls
        return {**super().body(attempt, streams=streams), **({"images": images} if images else {})}

    def convert_answer(self, attempt: Attempt[BoundedJudgement], body: dict[str, Any]) -> None:
        try:
            answers = read_answers(attempt.request.params.questions, body.get("answers"))
            ours = judgement_of(attempt, body.get("version"), answers)
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error
        usage = body.get("usage")
        body.clear()
        body.update(ours, usage=usage)

    def refused(self, attempt: Attempt[BoundedJudgement], refusal: Refusal) -> Outcome:
        """Read a refusal. Only the code `overloaded` allows the fallback."""
        outcome = too_large(super().refused(attempt, refusal))
        if isinstance(outcome, Overloaded):
            code = errors.error_object(refusal.body).get("code")
            return replace(outcome, is_explicit=code == OVERLOADED)
        return outcome
