"""`python -m outlive`."""

from outlive.cli import main

main()
