"""Creates the table of operators' notes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import accounts.models.note
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("accounts", "0005_closings")]

    operations = [
        migrations.CreateModel(
            name="Note",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=accounts.models.note.new_note_id,
                        editable=False,
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("owner_kind", models.CharField(max_length=16)),
                ("owner_key", models.TextField()),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "accounts_note",
                "indexes": [models.Index(fields=["owner_kind", "owner_key", "-id"], name="note_newest_of_owner")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("owner_kind__in", ("account", "organization"))),
                        name="note_owner_kind_known",
                    )
                ],
            },
        ),
    ]
