"""The soak: everything at once for an hour without a fault, to see whether anything grows that should not.

`python -m tests.soak` runs it. The load, the checks of all money and the installation are those of the chaos run (`tests/chaos`,
`tests/nodes`); what is added are the other model routes, live sessions, payments, sign-ins and management routes.
"""
