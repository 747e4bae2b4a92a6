"""outlive in the browser: a server on loopback, and the page that it serves.

command.py  `outlive web` and `outlive learn`
server.py   listens and serves until a signal; app.py the routes
access.py   who may ask: token, cookie, Host and Origin, response headers
api.py      JSON answers, errors as data, limits on what is sent
workspaces.py   the workspaces that are served, their stores, and the threads that use them
live.py     server-sent events: messages, mailboxes of readers, channels
hub.py      the channels of a server; changes.py finds what changed in a store, and sessions that lost their writer
streams.py  one stream a browser for everything that its tabs listen to; topics.py what that may be
sessions/   sessions, their window over time, their passes, their past
tasks/ memory/ replay/ learn/ talk/   the routes of the other pages
static/     the page: readable ES modules without a build step, Preact and htm in vendor/

Pages read stores and logs through the library alone. Nothing is changed unless the server was started with control.
"""
