"""The command line. `main` is the entry point; app.py holds the commands, quick.py answers the one asked most."""

RARELY = (100_000, 20, 50)
"""When Python looks for garbage: seldom. A session or ten thousand memories are held to the end, and looking through
them again and again takes longer than anything it frees."""


def main() -> None:
    import gc
    import sys

    from outlive.cli.output import guard
    from outlive.cli.quick import answer

    guard()
    answer(sys.argv[1:])
    gc.set_threshold(*RARELY)

    from outlive.cli.app import run

    run()
