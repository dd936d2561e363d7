"""Rewords help texts of the console. Nothing changes in the database."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_names"),
    ]

    operations = [
        migrations.AlterField(
            model_name="account",
            name="is_staff",
            field=models.BooleanField(default=False, help_text="Can sign in to the operator console."),
        ),
        migrations.AlterField(
            model_name="account",
            name="suspended_at",
            field=models.DateTimeField(
                blank=True, help_text="The account's tokens have been refused since this time.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="publicclient",
            name="trusted",
            field=models.BooleanField(default=False, help_text="Users of this client are not asked for consent."),
        ),
    ]
