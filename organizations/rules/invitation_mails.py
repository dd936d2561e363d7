"""How many invitations are mailed, and what they say of a role."""

from datetime import timedelta

from organizations.rules.roles import Role

PERIOD = timedelta(days=1)
ADDRESS_MAX = 5
"""How many invitations one address is mailed within the period, of all organizations together."""

ORGANIZATION_MAX = 200
"""How many invitations are mailed for one organization within the period."""

INVITER_MAX = 200
"""How many invitations of one person are mailed within the period, for all organizations together."""

MEANINGS = {
    Role.OWNER: "An owner can do everything in the organization.",
    Role.ADMIN: "An admin can invite and remove people, change their roles, and assign seats.",
    Role.BILLING: "A billing member can enable products, set seat caps, and manage money and budgets.",
    Role.MEMBER: "A member can use the products that they have a seat for.",
}
