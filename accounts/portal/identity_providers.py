"""Signs people in through the operator's OpenID Connect providers, whose responses are not trusted."""

import logging
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.oauth2.utils import generate_code_challenge
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.http import HttpRequest

from accounts.allauth_internals import IdTokenAdapter
from accounts.models import Account
from accounts.operations import addresses
from accounts.portal.provider_requests import ProviderSession
from accounts.rules import identity_claims, provider_answers
from gateway.core.contract.limits import ACCOUNT_NAME_MAX_CHARACTERS
from gateway.core.contract.names import cleaned
from gateway.core.outbound.redaction import redacted
from gateway.core.runtime.logs import RecurringLog

_log = RecurringLog("accounts.identity_providers", logging.WARNING)

CONNECT = "connect"


class CheckedAdapter(IdTokenAdapter):
    """Sends requests to a provider, and checks that its responses match them."""

    verifier = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """Return the provider's metadata. Raises InvalidAnswer if an endpoint is not allowed."""
        description: dict[str, Any] = super().openid_config
        provider_answers.check_endpoints(description, self.get_provider().server_url)
        return description

    def get_access_token_data(
        self, request: HttpRequest, app: SocialApp, client: Any, pkce_code_verifier: str | None = None
    ) -> dict[str, Any]:
        """Redeem the code with this session's code verifier. A response without an ID token is refused, because it
        proves no sign-in.
        """
        self.verifier = pkce_code_verifier or ""
        data: dict[str, Any] = super().get_access_token_data(request, app, client, pkce_code_verifier=self.verifier)
        if not data.get("id_token"):
            raise provider_answers.InvalidAnswer("no ID token")
        return data

    def check_claims(self, app: SocialApp, claims: dict[str, Any]) -> None:
        """Check that the token is meant for this client and this browser's session. Raises InvalidAnswer."""
        nonce = provider_answers.nonce_of(self.verifier)
        provider_answers.check_id_token(claims, client_id=app.client_id, nonce=nonce)


class CheckedProvider(OpenIDConnectProvider):
    """Reads only known claims, and refuses invalid ones before they are used."""

    oauth2_adapter_class = CheckedAdapter

    def get_pkce_params(self) -> dict[str, Any]:
        """Bind the code to this browser's session by PKCE, and by a nonce in case the provider does not support
        PKCE.
        """
        made = generate_code_challenge()
        return {**made, "nonce": provider_answers.nonce_of(made["code_verifier"])}

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> Any:
        """Return the sign-in that the claims describe, or raise ProviderException, which shows an error page."""
        try:
            claims = identity_claims.read(response)
        except identity_claims.InvalidClaims as error:
            raise ProviderException(str(error)) from None
        return super().sociallogin_from_response(request, {"userinfo": claims})


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Creates accounts from an identity provider's claims. An email address never links to an existing account."""

    error_messages = {
        **DefaultSocialAccountAdapter.error_messages,
        "email_taken": "An account with this email address already exists. Sign in to it first, then connect your %s account.",
        "no_password": "Your account has no password.",
    }

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> Any:
        """Return the provider; an OpenID Connect provider gets the checks."""
        found = super().get_provider(request, provider, client_id=client_id)
        return CheckedProvider(request, app=found.app) if isinstance(found, OpenIDConnectProvider) else found

    def get_requests_session(self) -> ProviderSession:
        return ProviderSession()

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """End unverified claims of other accounts to an address that the provider has verified."""
        if sociallogin.is_existing or sociallogin.state.get("process") == CONNECT:
            return
        for address in sociallogin.email_addresses:
            if address.verified:
                addresses.release(address.email, keep=None)

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Account:
        """Fill in a new account. A missing address is stored as NULL, because empty strings would violate the unique
        constraint.
        """
        account = super().populate_user(request, sociallogin, data)
        account.display_name = cleaned(data.get("name") or "")[:ACCOUNT_NAME_MAX_CHARACTERS]
        account.email = account.email or None
        return account

    def on_authentication_error(self, request: HttpRequest, provider: Any, **about: Any) -> None:
        """Log the cause, which the error page does not show."""
        if about.get("exception"):
            cause = redacted(f"sign-in through {provider.sub_id} failed: {about['exception']}")
            _log.write(cause, cause)
