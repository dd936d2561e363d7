"""The judgement app's jobs."""

from django.utils import timezone

from gateway.core.jobs.operations.recording import job
from judgement.operations import answer_counts


@job("counts")
def purge_answer_counts() -> int:
    """Delete old answer counts."""
    return answer_counts.purge(now=timezone.now())
