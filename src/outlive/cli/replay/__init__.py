"""`outlive replay`: play a recorded session through the context engine.

command.py   the command
requests.py  the requests as JSON lines
costs.py     a simulated prompt cache
account.py   collects sizes by kind, passes and costs
timeline.py  the report in the terminal
page.py      the report as one self-contained page; chart.py its charts, look.py its style and script
"""
