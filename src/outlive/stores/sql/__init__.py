"""SQLite and PostgreSQL, one code path.

database.py    what differs between the two, as a protocol; statements are written once, in PostgreSQL's words
sqlite.py      one file on one machine, nothing to install
postgres.py    one server for many machines
migrations.py  the schema, as a list that only ever grows

The stores on top of either are `stores/tasks/sql.py`, `stores/logs/sql.py` and `stores/memories/sql.py`.

There is no query builder in between: the statements are few, and importing one would cost a command more
time than everything else it does (docs/dependencies.md has the figures).
"""
