"""Help texts and labels of the console. Nothing changes in the database."""

from django.db import migrations, models

import gateway.core.encryption.fields


class Migration(migrations.Migration):
    dependencies = [
        ("integrations", "0010_bind_encrypted_text"),
    ]

    operations = [
        migrations.AlterField(
            model_name="ciprovider",
            name="name",
            field=models.SlugField(help_text="The last part of the webhook's URL.", max_length=64, unique=True),
        ),
        migrations.AlterField(
            model_name="cirepository",
            name="name",
            field=models.CharField(help_text="Its name in the provider's webhooks, such as acme/docs.", max_length=255),
        ),
        migrations.AlterField(
            model_name="evolutionjob",
            name="requested_by",
            field=models.CharField(help_text="The DID of the account that requested it.", max_length=2048),
        ),
        migrations.AlterField(
            model_name="executionconfig",
            name="network",
            field=models.CharField(
                choices=[("none", "No network"), ("egress", "The worker's network")], default="none", max_length=8
            ),
        ),
        migrations.AlterField(
            model_name="sandboxrun",
            name="requested_by",
            field=models.CharField(help_text="The DID of the account that requested it.", max_length=2048),
        ),
        migrations.AlterField(
            model_name="sandboxrun",
            name="sequence",
            field=models.BigIntegerField(
                default=-1, editable=False, help_text="The number of the remote runner's latest report."
            ),
        ),
        migrations.AlterField(
            model_name="sandboxsettings",
            name="network",
            field=models.CharField(
                choices=[("none", "No network"), ("egress", "The worker's network")], default="none", max_length=8
            ),
        ),
        migrations.AlterField(
            model_name="sandboxsettings",
            name="previous_secret",
            field=gateway.core.encryption.fields.EncryptedTextField(
                blank=True, default="", help_text="Also accepted until the runner uses the new one."
            ),
        ),
    ]
