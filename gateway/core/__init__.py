"""What the apps stand on: it knows none of them. What assembles the apps is beside it, in `gateway`."""
