"""URLs of the accounts app. SPEC: Endpoints, Account and access; RFC 8414 and RFC 9728 for the documents."""

from django.urls import path

from accounts.views.account import AccountViewSet
from accounts.views.discovery import Metadata, ReceiptKeys, SigningKeys
from accounts.views.public_tokens import DeviceRevocation, DeviceToken, PublicToken
from accounts.views.tokens import OAuthToken, TokenExchange

authorization_server = Metadata.as_view({"get": "authorization_server"})
protected_resource = Metadata.as_view({"get": "protected_resource"})

urlpatterns = [
    path("v1/auth/token/exchange", TokenExchange.as_view({"post": "exchange"})),
    path("v1/oauth/token", OAuthToken.as_view({"post": "redeem"})),
    path("v1/public/token", PublicToken.as_view({"post": "redeem"})),
    path("v1/public/device/token", DeviceToken.as_view({"post": "refresh"})),
    path("v1/public/device/revoke", DeviceRevocation.as_view({"post": "revoke"})),
    path("v1/account", AccountViewSet.as_view({"get": "retrieve"})),
    path(".well-known/jwks.json", SigningKeys.as_view({"get": "retrieve"})),
    path(".well-known/receipt-keys.json", ReceiptKeys.as_view({"get": "retrieve"})),
    path(".well-known/oauth-authorization-server", authorization_server),
    path(".well-known/oauth-authorization-server/<path:inserted>", authorization_server),
    path(".well-known/oauth-protected-resource", protected_resource),
    path(".well-known/oauth-protected-resource/<path:inserted>", protected_resource),
]
