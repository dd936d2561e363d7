"""Consents become rows, which a person can see and withdraw. Those of live sessions are recorded."""

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def record(apps: Any, schema_editor: Any) -> None:
    """Record what the sessions that are still live carry."""
    consent = apps.get_model("accounts", "Consent")
    sessions = apps.get_model("accounts", "DeviceSession").objects.filter(revoked_at__isnull=True)
    for session in sessions.exclude(consents=[]).iterator():
        for kind in session.consents:
            consent.objects.get_or_create(
                account_id=session.account_id,
                client_id=session.client_id,
                kind=kind,
                defaults={"given_at": session.created_at},
            )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_help_texts")]

    operations = [
        migrations.CreateModel(
            name="Consent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client_id", models.CharField(max_length=255)),
                ("kind", models.CharField(max_length=64)),
                ("given_at", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="consents",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "accounts_consent",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "client_id", "kind"), name="accounts_one_consent_of_a_kind"
                    )
                ],
            },
        ),
        migrations.RunPython(record, migrations.RunPython.noop),
    ]
