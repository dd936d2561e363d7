"""The tables of the judgement app, one noun per file."""

from judgement.models.fallback import JudgementFallback
from judgement.models.settings import JudgementSettings

__all__ = ["JudgementFallback", "JudgementSettings"]
