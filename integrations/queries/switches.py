"""Which optional integrations are switched on."""

from gateway.core.contract.errors import IntegrationUnavailable
from integrations.models import IntegrationSwitch


def require(name: IntegrationSwitch.Name) -> None:
    """Raise IntegrationUnavailable unless the operator has switched this integration on."""
    if not IntegrationSwitch.objects.filter(name=name, enabled=True).exists():
        raise IntegrationUnavailable(f"{name.label} is not configured on this gateway.")
