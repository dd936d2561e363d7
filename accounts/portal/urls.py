"""URLs of the portal."""

from django.urls import include, path
from django.views.generic import RedirectView

from accounts.portal.views import (
    authorize,
    consents,
    developers,
    devices,
    did_documents,
    emails,
    identity_providers,
    names,
    own_data,
    second_factors,
    unsubscribing,
)

urlpatterns = [
    path("authorize", authorize.begin, name="portal_authorize"),
    path("authorize/<str:request_id>", authorize.consent, name="portal_consent"),
    # Where people have bookmarked it.
    path("consents", RedirectView.as_view(pattern_name="portal_apps")),
    path("devices", RedirectView.as_view(pattern_name="portal_apps")),
    path("consents/<int:consent_id>/withdraw", consents.withdraw, name="portal_withdraw_consent"),
    path("developers", developers.show, name="portal_developers"),
    path("devices/<str:session_id>/revoke", devices.revoke, name="portal_revoke_device"),
    path("accounts/<str:account_id>/did.json", did_documents.show),
    path("account/close/", own_data.close, name="portal_close"),
    path("account/data/", own_data.show, name="portal_data"),
    path("account/name/", names.change, name="portal_name"),
    path("account/email/", emails.manage, name="account_email"),
    path("account/confirm-email/", emails.verification_sent, name="account_email_verification_sent"),
    path("account/oidc/<str:provider_id>/login/", identity_providers.login, name="openid_connect_login"),
    path("account/oidc/<str:provider_id>/login/callback/", identity_providers.callback, name="openid_connect_callback"),
    path("account/2fa/console/", second_factors.open_console, name="portal_console_factor"),
    path("account/2fa/totp/activate/", second_factors.activate_totp, name="mfa_activate_totp"),
    path("account/2fa/totp/deactivate/", second_factors.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/2fa/recovery-codes/", second_factors.view_codes, name="mfa_view_recovery_codes"),
    path("account/2fa/recovery-codes/download/", second_factors.download_codes, name="mfa_download_recovery_codes"),
    path("account/2fa/recovery-codes/generate/", second_factors.generate_codes, name="mfa_generate_recovery_codes"),
    path("account/2fa/webauthn/add/", second_factors.add_passkey, name="mfa_add_webauthn"),
    path("account/2fa/webauthn/keys/<int:pk>/remove/", second_factors.remove_passkey, name="mfa_remove_webauthn"),
    path("account/2fa/webauthn/keys/<int:pk>/edit/", second_factors.rename_passkey, name="mfa_edit_webauthn"),
    path("account/", include("allauth.urls")),
    path("mail/unsubscribe/<str:token>", unsubscribing.show, name="mail_unsubscribe"),
]
