"""Judgement backends, their selection, and callers."""

from collections.abc import Mapping
from typing import Any

from tests.judgement.judges import JudgeUpstream
from tests.support.stage import Caller, Stage

JUDGEMENT = "/v1/judgement"
PRICE = {"input_token": "0.5"}
BALANCE = 1_000_000
SCOPES = ("judgement:evaluate", "wallet:read", "usage:read")

GROUNDED: dict[str, Any] = {"type": "noul", "instructions": "Does the source support the answer?"}
TONE: dict[str, Any] = {
    "type": "choice",
    "instructions": "What is its tone?",
    "criteria": {"very calm": "Factual", "very angry": "Rude"},
}
QUALITY: dict[str, Any] = {
    "type": "score",
    "instructions": "How good is it?",
    "criteria": {"1": "Useless", "3": "Fair", "5": "Excellent"},
}
QUESTIONS: dict[str, Any] = {"grounded": GROUNDED, "tone": TONE, "quality": QUALITY}
ANSWERS: dict[str, Any] = {
    "grounded": {"type": "noul", "answer": True, "probabilities": {"true": 0.75, "false": 0.25}},
    "tone": {"type": "choice", "answer": "very calm", "probabilities": {"very calm": 0.75, "very angry": 0.25}},
    "quality": {"type": "score", "answer": 1.75, "probabilities": {"1": 0.75, "3": 0.125, "5": 0.125}},
}


def ask(**members: Any) -> dict[str, Any]:
    """Return the body of a judgement."""
    return {"state": "The store opens at nine.", "questions": {"grounded": GROUNDED}, **members}


class Bench:
    """Creates backends and callers. A later choice replaces an earlier one."""

    def __init__(self, stage: Stage, upstream: JudgeUpstream) -> None:
        from judgement.models import AnswerCount, JudgementFallback, JudgementSettings

        self.stage, self.upstream = stage, upstream
        JudgementSettings.objects.all().delete()
        JudgementFallback.objects.all().delete()
        AnswerCount.objects.all().delete()

    def backend(
        self,
        model: str = "judge-1",
        *,
        adapter: str = "judgement",
        price: Mapping[str, str] | None = PRICE,
        timeout_seconds: float = 30,
        upstream: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> str:
        """Create an alias that serves judgements, and return its name."""
        row = self.stage.upstream_row(adapter=adapter, timeout_seconds=timeout_seconds, **(upstream or {}))
        fields.setdefault("options", {"routes": ["judgement"]})
        return self.stage.model(model, upstream=row, price=price, **fields)

    def choose(self, *, text: str | None = None, vision: str | None = None) -> None:
        """Select backends for the two aliases."""
        from inference.models import Alias
        from inference.queries import catalogue
        from judgement.models import JudgementSettings

        named = {name: name and Alias.objects.get(name=name) for name in (text, vision)}
        values = {"text_backend": named[text], "vision_backend": named[vision]}
        JudgementSettings.objects.update_or_create(id=JudgementSettings.ONLY, defaults=values)
        catalogue.forget()

    def fall_back(self, source: str, target: str) -> None:
        """Configure one backend as another's fallback."""
        from inference.models import Alias
        from inference.queries import catalogue
        from judgement.models import JudgementFallback

        JudgementFallback.objects.create(source=Alias.objects.get(name=source), target=Alias.objects.get(name=target))
        catalogue.forget()

    def caller(self, **options: Any) -> Caller:
        """Create a caller that may request judgements."""
        return self.stage.caller(**{"balance": BALANCE, "scopes": SCOPES, **options})


def post(caller: Caller, body: Any, *, key: str | None = None, **options: Any) -> Any:
    """Request a judgement, by default without an idempotency key."""
    return caller.post(body, path=JUDGEMENT, key=key, **options)
