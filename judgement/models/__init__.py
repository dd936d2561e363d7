"""Which backends judge, who takes over from whom, and what is counted of their answers."""

from judgement.models.answer_count import AnswerCount
from judgement.models.fallback import JudgementFallback
from judgement.models.settings import JudgementSettings

__all__ = ["AnswerCount", "JudgementFallback", "JudgementSettings"]
