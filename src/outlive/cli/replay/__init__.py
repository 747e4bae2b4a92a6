"""`outlive replay`: what would have happened to a recorded session.

command.py   the command itself
requests.py  the requests as JSON lines
costs.py     a prompt cache, simulated
account.py   sizes by kind, passes and costs, gathered on the way
timeline.py  the report in the terminal
page.py      the report as one self-contained page
chart.py     its chart
"""
