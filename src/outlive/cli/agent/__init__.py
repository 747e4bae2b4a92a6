"""The agent at the command line: headless (`outlive -p`) and in the terminal (`outlive`)."""
