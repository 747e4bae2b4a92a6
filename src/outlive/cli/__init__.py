"""The command line. `main` is the entry point; app.py holds the commands, quick.py answers the one asked most."""


def main() -> None:
    import sys

    from outlive.cli.quick import answer

    answer(sys.argv[1:])

    from outlive.cli.app import run

    run()
