"""Accounts: people and agents that own a wallet and make calls, each identified by a DID."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Collate, Lower
from django.utils import timezone

from accounts.models.validators import validate_did
from accounts.rules.dids import DID_MAX_CHARACTERS
from gateway.core.api.names import validate_name
from gateway.core.contract.limits import ACCOUNT_NAME_MAX_CHARACTERS


class AccountManager(BaseUserManager["Account"]):
    """Creates accounts, with a password or, for product integrations, without one."""

    def create_user(self, did: str, email: str | None = None, password: str | None = None, **fields: Any) -> "Account":
        """Create an account. Without a password it can sign in only through its product."""
        account = self.model(did=did, email=self.normalize_email(email) if email else None, **fields)
        account.set_password(password)
        account.save(using=self._db)
        return account

    def create_superuser(
        self, did: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> "Account":
        """Create an operator of the admin."""
        return self.create_user(did, email, password, is_staff=True, is_superuser=True, **fields)


class Account(AbstractBaseUser, PermissionsMixin):
    """An account. `did` never changes. `email` is for signing in; it never identifies or links accounts."""

    did = models.CharField("DID", max_length=DID_MAX_CHARACTERS, unique=True, validators=[validate_did])
    email = models.EmailField(null=True, blank=True)
    display_name = models.CharField(max_length=ACCOUNT_NAME_MAX_CHARACTERS, blank=True, validators=[validate_name])
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False, help_text="Can sign in to the operator console.")
    suspended_at = models.DateTimeField(
        null=True, blank=True, help_text="The account's tokens have been refused since this time."
    )
    session_epoch = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AccountManager()

    USERNAME_FIELD = "did"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="accounts_account_email_unique")]
        # Operators find people by the beginning of their name.
        indexes = [models.Index(Collate(Lower("display_name"), "C"), name="account_by_name")]
        permissions = [("suspend_account", "Can suspend accounts that are not operators'")]

    def __str__(self) -> str:
        return self.display_name or self.did

    def get_session_auth_hash(self) -> str:
        """Return the hash that portal sessions are checked against. A new password or a new epoch changes it and so
        ends all sessions.
        """
        return self._in_epoch(super().get_session_auth_hash())

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        """Yield the hashes under previous secret keys."""
        yield from map(self._in_epoch, super().get_session_auth_fallback_hash())

    def _in_epoch(self, known: str) -> str:
        return f"{known}.{self.session_epoch}" if self.session_epoch else known

    @property
    def is_live(self) -> bool:
        """Return whether the account's tokens are accepted."""
        return self.is_active and self.suspended_at is None

    def get_full_name(self) -> str:
        """Return the account's name for the console's header."""
        return str(self)
