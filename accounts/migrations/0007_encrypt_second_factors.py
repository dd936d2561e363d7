"""Encrypts the secrets of authenticator apps and recovery codes that were stored in the clear.

Some rows at a time, each batch in a transaction of its own: no lock is held for long, and a run that was cut off is
simply repeated.
"""

from typing import Any

from django.db import migrations

from accounts.operations.second_factors import decrypted, encrypted, rewrite


def encrypt(apps: Any, schema_editor: Any) -> None:
    """Encrypt what is plain."""
    rewrite(apps.get_model("mfa", "Authenticator"), encrypted)


def decrypt(apps: Any, schema_editor: Any) -> None:
    """Write the secrets in the clear, as older versions read them."""
    rewrite(apps.get_model("mfa", "Authenticator"), decrypted)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0006_shared_cache_and_session_epoch"), ("mfa", "0003_authenticator_type_uniq")]

    operations = [migrations.RunPython(encrypt, decrypt)]
