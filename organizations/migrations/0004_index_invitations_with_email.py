"""Adds the index by which old invitations are found that still have an email address."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0003_audit_log")]

    operations = [
        migrations.AddIndex(
            "invitation",
            models.Index(
                fields=["created_at"], name="invitation_with_email", condition=models.Q(("email__isnull", False))
            ),
        ),
    ]
