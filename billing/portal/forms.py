"""What people fill in to pay."""

from gateway.core.forms import AmountForm


class TopUpForm(AmountForm):
    """How much to add to one's wallet."""
