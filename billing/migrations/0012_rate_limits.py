"""Adds rate limits of metered calls, what is used of them, and the type in which a call names those that apply to it."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models import Q

from billing.models.fields import KeyField, RateField
from gateway.core.database.migrations import RestartableMigration

CREATE = (
    "CREATE TYPE billing_rate_limit AS (scope text, subject text, requests bigint, tokens bigint, concurrent bigint)"
)
# With the functions that take it, which the version before does not have.
DROP = "DROP TYPE billing_rate_limit CASCADE"

SCOPES = ("account", "organization", "member", "client", "alias")
NUMBERS = ("requests_per_minute", "tokens_per_minute", "concurrent")


class Migration(RestartableMigration):
    dependencies = [("billing", "0011_calls_under_way")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
        migrations.AddField("call", "token_scopes", ArrayField(KeyField(), null=True)),
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.TextField(choices=[(scope, scope) for scope in SCOPES])),
                (
                    "subject",
                    KeyField(
                        null=True,
                        blank=True,
                        help_text="An account's DID, an organization's ID, a membership's ID, a client's ID or an alias. Empty: every "
                        "account, organization or member, each for itself.",
                    ),
                ),
                (
                    "requests_per_minute",
                    RateField(help_text="So many at once after a pause, then evenly over the minute."),
                ),
                ("tokens_per_minute", RateField(help_text="Input and output tokens, counted when a call is charged.")),
                (
                    "concurrent",
                    RateField(
                        help_text="Calls that are open at once: a stream until its end, a session until it closes."
                    ),
                ),
            ],
            options={
                "db_table": "billing_limit",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("scope", "subject"), name="limit_one_per_subject", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=Q(subject__isnull=False) | ~Q(scope__in=["alias", "client"]), name="limit_has_subject"
                    ),
                    *(
                        models.CheckConstraint(
                            condition=Q(**{f"{name}__gte": 1, f"{name}__lte": 1_000_000_000}),
                            name=f"limit_{name}_in_range",
                        )
                        for name in NUMBERS
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LimitMeter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", KeyField()),
                ("subject", KeyField()),
                ("requests_level", models.BigIntegerField(db_default=0)),
                ("requests_at", models.DateTimeField()),
                ("tokens_level", models.BigIntegerField(db_default=0)),
                ("tokens_at", models.DateTimeField()),
                ("tokens_quota", models.BigIntegerField(null=True)),
            ],
            options={
                "db_table": "billing_limit_meter",
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "subject"), name="limit_meter_one_per_subject")
                ],
            },
        ),
        migrations.CreateModel(
            name="LimitUse",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", KeyField()),
                ("subject", KeyField()),
                ("tokens", models.BigIntegerField()),
                ("used_at", models.DateTimeField()),
            ],
            options={
                "db_table": "billing_limit_use",
                "indexes": [models.Index(fields=["scope", "subject", "used_at"], name="limit_use_of_subject")],
            },
        ),
    ]
