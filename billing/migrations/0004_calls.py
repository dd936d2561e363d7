"""Names the rows of calls `call` in the console's rights and log, as the code does. Their table keeps its name.

A database may have both names: `migrate` makes the other one again when it migrates one app alone or undoes this migration. What
was given or logged under it is then kept too.
"""

from typing import Any

from django.db import migrations


def name_call(apps: Any, schema_editor: Any) -> None:
    _rename(apps, "reservation", "call")


def name_reservation(apps: Any, schema_editor: Any) -> None:
    _rename(apps, "call", "reservation")


def _rename(apps: Any, old: str, new: str) -> None:
    types = apps.get_model("contenttypes", "ContentType").objects.filter(app_label="billing")
    kept, other = (types.filter(model=name).first() for name in (old, new))
    if kept is None:
        return
    permissions = apps.get_model("auth", "Permission").objects
    for permission in permissions.filter(content_type=kept):
        permission.codename = permission.codename.replace(f"_{old}", f"_{new}")
        permission.save()
    if other is not None:
        for permission in permissions.filter(content_type=other):
            _give_alike(permission, permissions, kept)
        apps.get_model("admin", "LogEntry").objects.filter(content_type=other).update(content_type=kept)
        other.delete()
    types.filter(pk=kept.pk).update(model=new)


def _give_alike(permission: Any, permissions: Any, content_type: Any) -> None:
    """Grant the permission of the same name for another type to everybody who has this one."""
    alike, _ = permissions.get_or_create(
        content_type=content_type, codename=permission.codename, defaults={"name": permission.name}
    )
    alike.group_set.add(*permission.group_set.all())
    alike.user_set.add(*permission.user_set.all())


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0003_while_calls_go_on"),
        ("accounts", "0001_initial"),
        ("admin", "0001_initial"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.RunPython(name_call, name_reservation, elidable=True),
    ]
