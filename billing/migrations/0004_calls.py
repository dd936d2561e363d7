"""Names the rows of calls `call` in the console's rights and log, as the code does. Their table keeps its name."""

from django.db import migrations

RENAME = """
UPDATE django_content_type SET model = '{new}' WHERE app_label = 'billing' AND model = '{old}';
UPDATE auth_permission p
   SET codename = replace(p.codename, '_{old}', '_{new}')
  FROM django_content_type t
 WHERE t.id = p.content_type_id AND t.app_label = 'billing' AND t.model = '{new}';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0003_while_calls_go_on"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.RunSQL(
            RENAME.format(old="reservation", new="call"), RENAME.format(old="call", new="reservation"), elidable=True
        ),
    ]
