"""The tables of the judgement app: settings, fallbacks and answer counts."""

from judgement.models.answer_count import AnswerCount
from judgement.models.fallback import JudgementFallback
from judgement.models.settings import JudgementSettings

__all__ = ["AnswerCount", "JudgementFallback", "JudgementSettings"]
