"""Finds a member's newest calls without reading the organization's other calls. Built while calls go on."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("billing", "0015_usage_days"),
    ]

    operations = [
        AddIndexConcurrently(
            "reservation",
            models.Index(
                fields=["membership_id", "created_at"],
                name="reservation_of_member",
                condition=models.Q(membership_id__isnull=False),
            ),
        ),
    ]
