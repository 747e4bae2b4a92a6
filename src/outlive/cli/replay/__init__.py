"""`outlive replay`: play a recorded session through the context engine.

command.py   the command
requests.py  the requests as JSON lines
timeline.py  the report in the terminal
page.py      the report as one self-contained page; chart.py its charts, look.py its style and script
"""
