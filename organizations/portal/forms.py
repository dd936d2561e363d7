"""Forms of the organization pages."""

from typing import Any

from django import forms
from django.conf import settings

from gateway.core.api.names import validate_name
from gateway.core.portal.forms import AmountForm
from organizations.models import Organization
from organizations.rules.roles import Role, may_manage

CAP_MAX = 1_000_000
MAILED = "The link is sent to this address."
NOTED = "No email is sent. The address helps you tell open invitations apart."


class NameForm(forms.Form):
    """The name of an organization."""

    name = forms.CharField(
        max_length=Organization.NAME_MAX_CHARACTERS,
        validators=[validate_name],
        widget=forms.TextInput({"autocomplete": "off"}),
    )


class InvitationForm(forms.Form):
    """An invitation's role and an optional email address."""

    role = forms.ChoiceField(initial=Role.MEMBER)
    email = forms.EmailField(
        required=False,
        max_length=254,
        validators=[validate_name],
        label="Email address (optional)",
        widget=forms.EmailInput({"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, actor: Role, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = role_choices(actor)  # type: ignore[attr-defined]
        self.fields["email"].help_text = MAILED if settings.MAIL_IS_CONFIGURED else NOTED


class SeatCapForm(forms.Form):
    """The seat cap of a product. Empty means none."""

    max_seats = forms.IntegerField(required=False, min_value=0, max_value=CAP_MAX)


class TopUpForm(AmountForm):
    """A top-up of the organization's wallet, optionally for one product."""

    product = forms.ChoiceField(
        required=False,
        label="Use it for",
        help_text="Money for one product becomes a credit that only calls of that product can use.",
    )

    def for_products(self, products: list[tuple[str, str]]) -> "TopUpForm":
        """Offer these products."""
        self.fields["product"].choices = [("", "Anything"), *products]  # type: ignore[attr-defined]
        return self


class ExternalBillingForm(forms.Form):
    """The account at the payment provider that bills a product's seats."""

    account = forms.RegexField(
        r"\Aacct_[A-Za-z0-9]{1,64}\Z",
        label="Account at the provider",
        help_text="It starts with acct_.",
        error_messages={"invalid": "An account starts with acct_, followed by letters and digits."},
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )


def role_choices(actor: Role) -> list[tuple[str, str]]:
    """Return the roles that a person with this role may grant."""
    return [(role.value, role.value.title()) for role in reversed(Role) if may_manage(actor, role)]
