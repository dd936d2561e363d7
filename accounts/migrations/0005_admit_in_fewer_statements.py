"""Asked for the account and for the epoch of the proofs in one statement. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_liveness")]

    operations = []
