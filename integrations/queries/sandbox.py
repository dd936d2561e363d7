"""Queries for the operator's sandbox settings."""

from gateway.core.contract.errors import IntegrationUnavailable
from integrations.models import IntegrationSwitch, SandboxSettings
from integrations.rules.execution import Limits


def settings() -> SandboxSettings:
    """Return the operator's settings. Raises IntegrationUnavailable if there is no sandbox."""
    stored = SandboxSettings.objects.filter(id=SandboxSettings.ONLY).first()
    if stored is None:
        raise IntegrationUnavailable("No sandbox is configured on this gateway.")
    return stored


def limits() -> Limits:
    """Return the operator's limits, or the defaults if there is no sandbox."""
    stored = SandboxSettings.objects.filter(id=SandboxSettings.ONLY).first()
    if stored is None:
        return Limits()
    return Limits(
        stored.max_timeout_seconds,
        stored.max_memory_mb,
        stored.network == SandboxSettings.Network.EGRESS,
        frozenset(stored.runtimes),
    )


def executes_here() -> bool:
    """Return whether programs are executed on a worker's own machine: sandbox runs under bubblewrap, or evolution jobs."""
    evolution = IntegrationSwitch.objects.filter(name=IntegrationSwitch.Name.EVOLUTION, enabled=True)
    return SandboxSettings.objects.filter(runner=SandboxSettings.Runner.BUBBLEWRAP).exists() or evolution.exists()


def is_wanted() -> bool:
    """Return whether a worker for the queue `sandbox` is needed."""
    return executes_here() or SandboxSettings.objects.exists()
