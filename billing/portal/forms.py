"""What people fill in to pay."""

from gateway.core.forms import OnceForm, PaymentAmountField


class TopUpForm(OnceForm):
    """How much to add to one's wallet."""

    amount = PaymentAmountField()
