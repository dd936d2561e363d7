"""Adds consents as rows, which a person can see and withdraw, and the history of the replay store."""

from typing import Any

from django.conf import settings
from django.db import migrations, models
from django.db.models import Q

from gateway.core.database.migrations import RestartableMigration


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


class Migration(RestartableMigration):
    replaces = [
        ("accounts", "0010_help_texts"),
        ("accounts", "0011_consents"),
        ("accounts", "0012_index_what_is_purged"),
        ("accounts", "0013_integration_audience_default"),
        ("accounts", "0014_replay_epoch_history"),
    ]
    dependencies = [("accounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Consent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client_id", models.CharField(max_length=255)),
                ("kind", models.CharField(max_length=64)),
                ("given_at", models.DateTimeField()),
                ("withdrawn_at", models.DateTimeField(null=True)),
                ("account", models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="consents")),
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
        migrations.RunPython(record, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex("devicesession", models.Index(fields=["expires_at"], name="device_session_expiry")),
        migrations.AddIndex(
            "devicesession",
            models.Index(fields=["revoked_at"], condition=Q(revoked_at__isnull=False), name="device_session_revoked"),
        ),
        migrations.AddIndex("limit", models.Index(fields=["ends_at"], name="accounts_limit_end")),
        migrations.AddField("replayepoch", "began_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("replayepoch", "history", models.TextField(blank=True, null=True)),
        migrations.AddField("replayepoch", "origin", models.UUIDField(blank=True, null=True)),
    ]
