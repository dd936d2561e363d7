"""Judgements by text models, from the log-probabilities of one chat completion."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.interface.upstream import Attempt, Outcome
from judgement.route.answer import judgement_of, too_large
from judgement.route.bound import BoundedJudgement
from judgement.rules.answers import MalformedAnswer, typed_answer
from judgement.rules.label_tokens import read_labels
from judgement.rules.prompt import messages, output_tokens
from judgement.rules.tokens import read_tokens

TOP_LOGPROBS = 20
_USAGE = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "input_tokens_details": "prompt_tokens_details",
}


class JudgementOverChat(JsonEndpoint[BoundedJudgement]):
    """Requests one code per question (`judgement.rules.prompt`), and reads the codes' probabilities."""

    path = "/chat/completions"

    def body(self, attempt: Attempt[BoundedJudgement], *, streams: bool) -> dict[str, Any]:
        request = attempt.request
        older = attempt.target.options.get("output_limit_field") == "max_tokens"
        return {
            "model": attempt.upstream_model,
            "messages": messages(request.params.state, request.params.questions, request.image_urls),
            "max_tokens" if older else "max_completion_tokens": output_tokens(request.params.questions),
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
        }

    def convert_answer(self, attempt: Attempt[BoundedJudgement], body: dict[str, Any]) -> None:
        """Read the labels and render the answers. The version is the upstream's model name."""
        questions = attempt.request.params.questions
        try:
            found = read_labels(questions, read_tokens(_only_choice(body)))
            answers = {question.name: typed_answer(question, found[question.name]) for question in questions}
            ours = judgement_of(attempt, body.get("model") or attempt.upstream_model, answers)
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error
        usage = body.get("usage") or {}
        body.clear()
        body.update(ours, usage={ours_name: usage.get(name) for ours_name, name in _USAGE.items()})

    def refused(self, attempt: Attempt[BoundedJudgement], refusal: Refusal) -> Outcome:
        return too_large(super().refused(attempt, refusal))


def _only_choice(body: Mapping[str, Any]) -> Any:
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        raise MalformedAnswer("not exactly one choice")
    return choices[0]
