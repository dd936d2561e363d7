"""Keeps operators' ready groups, and gives them to operators."""

from collections.abc import Iterable

from django.contrib.auth.models import Group, Permission
from django.db import models, transaction
from django.db.models import Q

from accounts.models import Account, OperatorRole
from accounts.rules import operator_roles as rules

TAKEN = "{} (ready role)"


@transaction.atomic
def keep(tables: Iterable[type[models.Model]]) -> None:
    """Create the ready groups that are missing, and set the rights of each, for the tables that the console shows.

    They are set as a whole, so a group has the rights of a new table, and never one that somebody gave it by hand. Other groups
    stay as they are, also one that has a role's name.
    """
    shown = {f"{one.content_type.app_label}.{one.codename}": one for one in _permissions(tables)}
    for name in rules.NAMES:
        rights = rules.rights_of(name, frozenset(shown))
        _group(name).permissions.set([shown[right] for right in rights])


def give(account: Account, role: str) -> bool:
    """Put an account into a role's group and out of those of other roles; return whether that changed anything."""
    group = OperatorRole.objects.get(name=role).group
    roles = account.groups.filter(role__isnull=False)
    if list(roles) == [group]:
        return False
    account.groups.remove(*roles)
    account.groups.add(group)
    return True


def _permissions(tables: Iterable[type[models.Model]]) -> Iterable[Permission]:
    named = Q(pk__in=[])
    for table in tables:
        of_table = table._meta  # noqa: SLF001 (documented)
        named |= Q(content_type__app_label=of_table.app_label, content_type__model=of_table.model_name)
    return Permission.objects.filter(named).select_related("content_type")


def _group(role: str) -> Group:
    """Return a role's group. A new one gets another name if an operator's own group has this one."""
    known = OperatorRole.objects.select_related("group").filter(name=role).first()
    if known:
        return known.group
    title = role.capitalize()
    is_taken = Group.objects.filter(name=title).exists()
    group = Group.objects.create(name=TAKEN.format(title) if is_taken else title)
    OperatorRole.objects.create(name=role, group=group)
    return group
