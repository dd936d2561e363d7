"""Console pages for portal sign-in. django-allauth's own pages would show second-factor secrets and tokens."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.admin.people import SEARCH_HELP, person_fields
from accounts.operations import enrolments
from gateway.core.console import PartyColumn, ReadOnlyAdmin

for _model in (EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession):
    if admin.site.is_registered(_model):
        admin.site.unregister(_model)


@admin.register(EmailAddress)
class EmailAddressAdmin(ReadOnlyAdmin):
    """Email addresses, and whether they are verified."""

    empty_text = "Each person who signs up at the portal has one."
    person = PartyColumn("Account", "user")

    list_display = ("email", "person", "primary", "verified")
    list_filter = ("primary", "verified")
    list_select_related = ("user",)
    search_fields = ("email", *person_fields("user"))
    fields = ("email", "person", "primary", "verified")
    ordering = ("-id",)


@admin.register(Authenticator)
class AuthenticatorAdmin(ReadOnlyAdmin):
    """Second factors and passkeys, without their secrets. An operator can delete one for a person who lost it."""

    empty_text = "People add passkeys and authenticator apps in the portal, under Security."
    person = PartyColumn("Account", "user", is_linked=False)

    list_display = ("person", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = person_fields("user")
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    fields = ("person", "type", "created_at", "last_used_at")

    def has_delete_permission(self, request: HttpRequest, obj: Authenticator | None = None) -> bool:
        return bool(request.user.is_superuser)

    def delete_model(self, request: HttpRequest, obj: Authenticator) -> None:
        """Remove one, and the recovery codes if no other second factor remains."""
        enrolments.remove(obj, now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Authenticator]) -> None:
        for authenticator in queryset:
            enrolments.remove(authenticator, now=timezone.now())


@admin.register(UserSession)
class UserSessionAdmin(ReadOnlyAdmin):
    """Browsers that are signed in to the portal. Session keys are not shown."""

    empty_text = "One begins when a person signs in at the portal."
    person = PartyColumn("Account", "user", is_linked=False)

    list_display = ("person", "ip", "user_agent", "created_at", "last_seen_at")
    list_select_related = ("user",)
    search_fields = (*person_fields("user"), "ip")
    search_help_text = "Part of a name, email address, DID or IP address."
    ordering = ("-id",)
    fields = ("person", "ip", "user_agent", "created_at", "last_seen_at")


@admin.register(SocialAccount)
class SocialAccountAdmin(ReadOnlyAdmin):
    """Accounts at identity providers that people sign in with."""

    empty_text = (
        "One is made when a person signs in with another provider's identity, which the configuration has to allow."
    )
    person = PartyColumn("Account", "user", is_linked=False)

    list_display = ("person", "provider", "uid", "date_joined", "last_login")
    list_filter = ("provider",)
    list_select_related = ("user",)
    search_fields = (*person_fields("user"), "uid")
    ordering = ("-id",)
    fields = ("person", "provider", "uid", "date_joined", "last_login")
