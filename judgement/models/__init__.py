"""The tables of the judgement app, one noun a file."""

from judgement.models.fallback import JudgementFallback
from judgement.models.settings import JudgementSettings

__all__ = ["JudgementFallback", "JudgementSettings"]
