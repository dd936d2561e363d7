"""Which backends judge, which one takes over from which, and counts of their answers."""

from judgement.models.answer_count import AnswerCount
from judgement.models.fallback import JudgementFallback
from judgement.models.settings import JudgementSettings

__all__ = ["AnswerCount", "JudgementFallback", "JudgementSettings"]
