"""The model routes' jobs."""

from django.utils import timezone

from gateway.core.jobs.operations.recording import job
from inference.metering import recovery
from inference.operations import stored_responses


@job("calls")
def recover_calls() -> int:
    """Close the calls that server processes of this machine had open when they died.

    Servers and workers do this by themselves (`JournalReader`); only a scheduler of an earlier version sends it.
    """
    return recovery.recover(now=timezone.now())


@job("responses")
def purge_responses() -> int:
    """Delete expired stored responses."""
    return stored_responses.purge(now=timezone.now())
