"""Sign-in for people (django-allauth), and their sessions."""

import os
from typing import Any

from gateway.core.contract.limits import EMAIL_ADDRESSES_MAX
from gateway.settings import limits
from gateway.settings.reading import env

PORTAL_APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "django.contrib.humanize",
]
PORTAL_MIDDLEWARE = [
    "accounts.portal.middleware.LiveAccounts",
    "accounts.portal.staff_factors.StaffSecondFactor",
    "accounts.portal.request_limits.RequestLimits",
    "accounts.portal.sessions.AnonymousSessionLimit",
    "accounts.portal.middleware.ContentSecurityPolicy",
    "accounts.portal.middleware.NeverStored",
    "accounts.portal.middleware.SeeOther",
    "accounts.portal.middleware.Appearance",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "portal_home"
LOGOUT_REDIRECT_URL = "account_login"

# Mail is sent if a server is configured (EMAIL_URL); only then are addresses verified.
_mail: dict[str, Any] = env.email_url("EMAIL_URL", default="dummymail://")
vars().update(_mail)
if _mail["EMAIL_BACKEND"] == "django.core.mail.backends.smtp.EmailBackend":
    EMAIL_BACKEND = "gateway.core.events.adapters.smtp.LimitedSmtp"
MAIL_IS_CONFIGURED = "EMAIL_URL" in os.environ
# Each wait for the mail server ends after this time, and the mail is tried again.
EMAIL_TIMEOUT = 10.0
DEFAULT_FROM_EMAIL = env("DEFAULT_FROM_EMAIL", default="Account Gateway <no-reply@localhost>")

ACCOUNT_ADAPTER = "accounts.portal.adapters.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "accounts.portal.identity_providers.SocialAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_MAX_EMAIL_ADDRESSES = EMAIL_ADDRESSES_MAX
ACCOUNT_USER_DISPLAY = "accounts.portal.adapters.display_name"
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if MAIL_IS_CONFIGURED else "none"
ACCOUNT_FORMS = {
    "signup": "accounts.portal.forms.SignupForm",
    "change_password": "accounts.portal.forms.ChangePasswordForm",
    "reset_password": "accounts.portal.forms.ResetPasswordForm",
    "reset_password_from_key": "accounts.portal.forms.ResetPasswordKeyForm",
}
# Strict if addresses are verified: several people may claim an address, and the one who can read its mail gets it.
ACCOUNT_PREVENT_ENUMERATION = "strict" if MAIL_IS_CONFIGURED else True
# Rate limits and their keys. People behind one office share an address. A key of `login_failed` is an address with an
# account (or an account alone, for second factors), one of `login_known_device` a browser with an account, one of
# `mail` an address with a mailbox: excessive attempts lock out only their sender.
ACCOUNT_RATE_LIMITS = {
    "signup": f"{limits.SIGN_UPS_PER_ADDRESS_MINUTE}/m/ip",
    "login": None,  # the next three count sign-in attempts
    "login_address": f"{limits.SIGN_INS_PER_ADDRESS_MINUTE}/m/ip",
    "login_failed": f"{limits.FAILED_SIGN_INS_PER_5_MINUTES}/5m/key",
    "login_known_device": f"{limits.SIGN_INS_PER_KNOWN_BROWSER_5_MINUTES}/5m/key",
    "reset_password": f"{limits.PASSWORD_RESETS_PER_ADDRESS_MINUTE}/m/ip",
    "reset_password_from_key": f"{limits.PASSWORD_RESETS_PER_ADDRESS_MINUTE}/m/ip",
    "change_password": f"{limits.PASSWORD_CHANGES_PER_ACCOUNT_MINUTE}/m/user",
    "manage_email": f"{limits.EMAIL_CHANGES_PER_ACCOUNT_MINUTE}/m/user",
    "confirm_email": None,
    "mail": f"{limits.MAILS_PER_MAILBOX_5_MINUTES}/5m/key",
}
KNOWN_DEVICE_COOKIE_NAME = "known_device"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False  # an email address never links an identity

# One identity provider (OpenID Connect) from the environment; more can be added in the operator console.
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
if OIDC_ISSUER := env("OIDC_ISSUER", default=""):
    SOCIALACCOUNT_PROVIDERS["openid_connect"] = {
        "APPS": [
            {
                "provider_id": "sso",
                "name": env("OIDC_NAME", default="single sign-on"),
                "client_id": env("OIDC_CLIENT_ID"),
                "secret": env("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ],
    }

MFA_ADAPTER = "accounts.portal.second_factors.MfaAdapter"
MFA_RATE_LIMITS = {
    "webauthn_login": f"{limits.PASSKEY_SIGN_INS_PER_ADDRESS_MINUTE}/m/ip"
}  # a passkey cannot be guessed
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
# If no mail is sent, addresses are never verified, and second factors must not require it.
MFA_ALLOW_UNVERIFIED_EMAIL = not MAIL_IS_CONFIGURED
MFA_FORMS = {
    "activate_totp": "accounts.portal.second_factors.ActivateForm",
    "add_webauthn": "accounts.portal.passkeys.AddPasskeyForm",
    "authenticate_webauthn": "accounts.portal.passkeys.AuthenticateForm",
    "login_webauthn": "accounts.portal.passkeys.SignInForm",
    "reauthenticate_webauthn": "accounts.portal.passkeys.ReauthenticateForm",
    "edit_webauthn": "accounts.portal.passkeys.RenamePasskeyForm",
}
MFA_TOTP_ISSUER = "Account Gateway"
# Whether the console opens only after a passkey or a code. Production's default is on.
STAFF_SECOND_FACTOR = env.bool("STAFF_SECOND_FACTOR", default=False)
USERSESSIONS_TRACK_ACTIVITY = True

SESSION_ENGINE = "accounts.portal.sessions"

# Shared with the service's other subdomains, so that a product's appearance follows the user. Cosmetic only.
APPEARANCE_COOKIE_DOMAIN: str | None = env("APPEARANCE_COOKIE_DOMAIN", default=None)
