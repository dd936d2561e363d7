"""The portal's addresses."""

from django.urls import include, path

from accounts.portal.views import authorize, devices, emails, home, identity_providers

urlpatterns = [
    path("", home.home, name="portal_home"),
    path("authorize", authorize.begin, name="portal_authorize"),
    path("authorize/<str:request_id>", authorize.consent, name="portal_consent"),
    path("devices", devices.devices, name="portal_devices"),
    path("devices/<str:session_id>/revoke", devices.revoke, name="portal_revoke_device"),
    path("accounts/<str:account_id>/did.json", home.did_document),
    path("account/email/", emails.manage, name="account_email"),
    path("account/confirm-email/", emails.verification_sent, name="account_email_verification_sent"),
    path("account/oidc/<str:provider_id>/login/", identity_providers.login, name="openid_connect_login"),
    path("account/oidc/<str:provider_id>/login/callback/", identity_providers.callback, name="openid_connect_callback"),
    path("account/", include("allauth.urls")),
]
