"""Lets a wallet know its owner's threshold and which alert is due next.

The columns have constant defaults, which takes milliseconds. Wallets that have money are armed once the functions are
installed (`billing.operations.alerts.arm_all`).
"""

from django.db import migrations

from billing.models.fields import MicrousdField
from gateway.core.database.migrations import RestartableMigration


class Migration(RestartableMigration):
    dependencies = [("billing", "0012_calls_under_way")]

    operations = [
        migrations.AddField("wallet", "low_balance_microusd", MicrousdField(db_default=1_000_000)),
        migrations.AddField("wallet", "alert_below_microusd", MicrousdField(null=True)),
    ]
