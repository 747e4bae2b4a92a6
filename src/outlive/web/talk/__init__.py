"""Talking to agents from the browser: sessions that the server holds open, and the routes that drive them.

thread.py     the thread in which agents work, apart from the server
talks.py      the sessions that are open here, and the browsers that watch them
open_talk.py  one open session: runs, queued words, interruption, modes
questions.py  permission questions, each answered once
drafts.py     what has arrived and is not in the log yet
shapes.py     all of that as JSON
routes.py     the routes; they need `--control`
"""
