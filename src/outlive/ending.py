"""The signals that end a program of ours in an orderly way."""

import signal


def terminations() -> tuple[signal.Signals, ...]:
    """SIGTERM, and SIGHUP unless the process was started to ignore it (`nohup`)."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM,) if ignored else (signal.SIGTERM, signal.SIGHUP)
