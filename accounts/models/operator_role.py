"""Ready groups of operators, whose rights the gateway sets."""

from django.contrib.auth.models import Group
from django.db import models


class OperatorRole(models.Model):
    """A role and its group. A group of the same name that an operator made is not the role's."""

    name = models.CharField(max_length=32, primary_key=True)
    group = models.OneToOneField(Group, models.CASCADE, related_name="role")

    class Meta:
        db_table = "accounts_operator_role"

    def __str__(self) -> str:
        return self.name
