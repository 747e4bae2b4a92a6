"""Tasks in the browser.

rows.py     tasks as rows of the table and cards of the board
picture.py  the graph as positions and paths
detail.py   one task in full
trail.py    the audit trail
changes.py  what a page with control may do
routes.py   the routes
"""
