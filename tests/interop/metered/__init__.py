"""npm packages that call models through a gateway with a fake upstream."""
