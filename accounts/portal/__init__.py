"""The portal: pages where people sign in, approve apps and look after their devices."""
