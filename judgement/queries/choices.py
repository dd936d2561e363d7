"""Query for the operator's choice of backends and fallbacks, by name."""

from inference.queries.catalogue import Choices
from judgement.models import JudgementFallback, JudgementSettings

TEXT_ALIAS = "judgement"
VISION_ALIAS = "judgement-vision"


def read_choices() -> Choices:
    """Return the operator's choices. An alias whose backend is not set selects none."""
    chosen = JudgementSettings.objects.values_list("text_backend__name", "vision_backend__name").first()
    text, vision = chosen or (None, None)
    fallbacks = JudgementFallback.objects.values_list("source__name", "target__name")
    return Choices({TEXT_ALIAS: text, VISION_ALIAS: vision}, dict(fallbacks))
