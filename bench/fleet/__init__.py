"""The task graph as the queue of a fleet, beside other queues on the same PostgreSQL: `python -m bench.fleet`.

__main__.py    options, the parts and their tables
contender.py   starts the processes of one contender and gathers what they report
processor.py   processor time of the server
worker.py      how a process of a contender is told to begin, and reports: the part that all of them share
ours.py procrastinate_jobs.py dbos_jobs.py
               the same commands for each contender: setup, fill, drain, wait, send, beat

Everyone does the same job: take it, do nothing, finish it. The others are installed into an environment of their own
outside of the repository (`--install`), and are no dependency of the project. bench/README.md has the figures.
"""
