"""Makes the table in which processes count together, and ends the portal sessions of suspended accounts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_admit_in_fewer_statements"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="session_epoch",
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.RunSQL(
            "UPDATE accounts_account SET session_epoch = 1 WHERE suspended_at IS NOT NULL", migrations.RunSQL.noop
        ),
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("key", models.TextField(primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "db_table": "accounts_cache_entry",
                "indexes": [models.Index(fields=["expires_at"], name="accounts_cache_expiry")],
            },
        ),
    ]
