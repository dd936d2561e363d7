"""Lets a budget know which of its thresholds was recorded in its period.

In a migration of its own, so that no two tables are locked at once. Those that are reached already are marked, so that nobody
hears today of what happened last week. The table has a row for each subject that somebody limited, so this takes milliseconds.
"""

from django.db import migrations, models

from gateway.core.database.migrations import RestartableMigration

# As in billing/sql/alerts.sql.
MARK = """
UPDATE billing_budget b
   SET alerted_percent = CASE WHEN b.spent_microusd >= o.limit_microusd THEN 100 ELSE 80 END
  FROM (SELECT i.id, CASE WHEN now() < i.override_until THEN i.override_limit_microusd ELSE i.limit_microusd END
                       AS limit_microusd
          FROM billing_budget i) o
 WHERE o.id = b.id AND b.spent_microusd > 0 AND b.spent_microusd >= o.limit_microusd - o.limit_microusd / 5
"""


class Migration(RestartableMigration):
    dependencies = [("billing", "0013_alerts")]

    operations = [
        migrations.AddField("budget", "alerted_percent", models.SmallIntegerField(db_default=0)),
        migrations.RunSQL(MARK, migrations.RunSQL.noop, elidable=True),
    ]
