"""What people fill in to pay."""

from gateway.forms import OnceForm, PaymentAmountField


class TopUpForm(OnceForm):
    """How much to add to one's wallet."""

    amount = PaymentAmountField()
