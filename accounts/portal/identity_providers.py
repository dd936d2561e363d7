"""Signing in through an operator's identity provider (OpenID Connect), whatever it says of a person."""

import logging
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.http import HttpRequest

from accounts.models import Account
from accounts.operations import addresses
from accounts.rules import identity_claims
from gateway.contract.names import cleaned

log = logging.getLogger("accounts.identity_providers")

CONNECT = "connect"
NAME_MAX_CHARACTERS = 120


class CheckedProvider(OpenIDConnectProvider):
    """Reads the claims that we know, and refuses odd ones before anything is made of them."""

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> Any:
        """Return the sign-in that the claims describe, or raise ProviderException, which is a page for the person."""
        try:
            claims = identity_claims.read(response)
        except identity_claims.OddClaims as error:
            raise ProviderException(str(error)) from None
        return super().sociallogin_from_response(request, {"userinfo": claims})


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Takes the person's name from an identity provider; an e-mail address never links to an account that exists."""

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:
        """Return a provider whose claims are checked."""
        found = super().get_provider(request, provider, client_id=client_id)
        return CheckedProvider(request, app=found.app) if isinstance(found, OpenIDConnectProvider) else found

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Let an address that the provider has verified win over claims that nobody has proven."""
        if sociallogin.is_existing or sociallogin.state.get("process") == CONNECT:
            return
        for address in sociallogin.email_addresses:
            if address.verified:
                addresses.release(address.email, keep=None)

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Account:
        """Fill in a new account. An absent address stays absent: empty texts would be alike."""
        account = super().populate_user(request, sociallogin, data)
        account.display_name = cleaned(data.get("name") or "")[:NAME_MAX_CHARACTERS]
        account.email = account.email or None
        return account

    def on_authentication_error(self, request: HttpRequest, provider: Any, **about: Any) -> None:
        """Tell the operator what the person's page does not say."""
        if about.get("exception"):
            log.warning("sign-in through %s failed: %s", provider.sub_id, about["exception"])
