"""Payment forms."""

from gateway.core.portal.forms import AmountForm


class TopUpForm(AmountForm):
    """The amount to add to the wallet."""
