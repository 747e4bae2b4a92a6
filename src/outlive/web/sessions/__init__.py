"""Sessions in the browser.

listing.py, summary.py   the list; a session in one row: what it does now, cost, context, last action
everywhere.py            the list of all workspaces
search.py                words in all logs
served_log.py            a log that is read further as it grows, with the indexes below
conversation.py, items.py, texts.py   what was said and done, item by item, in bounded texts
window.py                the window over time: what filled each request, cost, cache and its misses
receipt_kinds.py         rows of a receipt that add up
growth.py, live.py       what is new since an event, once for all readers; the stream of a session
past/                    the view at any request, passes and why lines were kept
control.py               undo and fork
routes.py, log_routes.py   the routes
"""
