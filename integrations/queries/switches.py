"""Query for the switches of optional integrations."""

from gateway.core.contract.errors import IntegrationUnavailable
from integrations.models import IntegrationSwitch


def require(name: IntegrationSwitch.Name, *, locked: bool = False) -> None:
    """Raise IntegrationUnavailable unless the operator has switched this integration on. `locked` serializes callers
    until their transaction ends, and makes the operator's change wait.
    """
    switches = IntegrationSwitch.objects.select_for_update(no_key=True) if locked else IntegrationSwitch.objects
    if switches.filter(name=name, enabled=True).first() is None:
        raise IntegrationUnavailable(f"{name.label} is not configured on this gateway.")
