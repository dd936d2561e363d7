"""Adds the folders of journals, and when each was last read."""

from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("inference", "0010_trials")]

    operations = [
        migrations.CreateModel(
            name="JournalFolder",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("host", models.TextField()),
                ("path", models.TextField()),
                ("files", models.PositiveIntegerField()),
                ("waiting_since", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField()),
                ("logged_at", models.DateTimeField(null=True)),
            ],
            options={"db_table": "inference_journal_folder"},
        ),
    ]
