"""Which optional integrations are switched on."""

from gateway.core.contract.errors import IntegrationUnavailable
from integrations.models import IntegrationSwitch


def require(name: IntegrationSwitch.Name, *, locked: bool = False) -> None:
    """Raise IntegrationUnavailable unless the operator has switched this integration on. `locked` makes those who ask
    take turns until their transaction ends, and the operator wait as well."""
    switches = IntegrationSwitch.objects.select_for_update(no_key=True) if locked else IntegrationSwitch.objects
    if switches.filter(name=name, enabled=True).first() is None:
        raise IntegrationUnavailable(f"{name.label} is not configured on this gateway.")
