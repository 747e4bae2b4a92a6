"""`outlive work`, `outlive fleet` and `outlive attach`."""
