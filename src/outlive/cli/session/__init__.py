"""`outlive session`: look at sessions, fork them, take passes back.

common.py   options and output shared by the commands
"""
