"""What follows from a job's runs."""
