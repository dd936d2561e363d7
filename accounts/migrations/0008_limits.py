"""A table of counts that every process shares; unlogged, because losing one costs nothing."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_encrypt_second_factors")]

    operations = [
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("digest", models.BinaryField(primary_key=True, serialize=False)),
                ("used", models.PositiveIntegerField()),
                ("ends_at", models.DateTimeField()),
            ],
            options={"db_table": "accounts_limit"},
        ),
        migrations.RunSQL("ALTER TABLE accounts_limit SET UNLOGGED", migrations.RunSQL.noop),
    ]
