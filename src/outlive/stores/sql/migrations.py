"""The schema, as a list that only ever grows. A migration that has been released is never edited.

Neutral words, put into those of the database by `Database.schema`: ID (a whole number of 64 bits), MOMENT
(a point in time), COUNTED (a primary key that counts itself), CREATE SEQUENCE (a source of numbers).
"""

from datetime import UTC, datetime

from outlive.errors import FutureVersion
from outlive.stores.sql.database import Connection, Database

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0001_tasks",
        (
            """CREATE TABLE outlive_tasks (
                id ID PRIMARY KEY,
                subject TEXT NOT NULL,
                description TEXT NOT NULL,
                status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'cancelled')),
                owner TEXT,
                priority INTEGER NOT NULL,
                labels TEXT NOT NULL,
                created_at MOMENT NOT NULL,
                updated_at MOMENT NOT NULL,
                completed_at MOMENT,
                archived_at MOMENT,
                lease_owner TEXT,
                lease_token ID,
                lease_claimed_at MOMENT,
                lease_expires_at MOMENT,
                revision ID NOT NULL,
                result TEXT,
                metadata TEXT NOT NULL,
                extra TEXT NOT NULL,
                blockers INTEGER NOT NULL DEFAULT 0
            )""",
            """CREATE INDEX outlive_tasks_ready ON outlive_tasks (priority, created_at, id)
                WHERE status = 'pending' AND blockers = 0""",
            """CREATE INDEX outlive_tasks_leases ON outlive_tasks (lease_expires_at)
                WHERE status = 'in_progress' AND lease_expires_at IS NOT NULL""",
            """CREATE INDEX outlive_tasks_status ON outlive_tasks (status, priority, created_at, id)
                WHERE archived_at IS NULL""",
            """CREATE TABLE outlive_task_edges (
                task ID NOT NULL,
                depends_on ID NOT NULL,
                PRIMARY KEY (task, depends_on)
            )""",
            "CREATE INDEX outlive_task_edges_back ON outlive_task_edges (depends_on, task)",
            """CREATE TABLE outlive_task_labels (
                label TEXT NOT NULL,
                task ID NOT NULL,
                PRIMARY KEY (label, task)
            )""",
            "CREATE INDEX outlive_task_labels_back ON outlive_task_labels (task)",
            """CREATE TABLE outlive_task_changes (
                seq COUNTED,
                id TEXT NOT NULL UNIQUE,
                at MOMENT NOT NULL,
                actor TEXT NOT NULL,
                origin TEXT NOT NULL,
                op TEXT NOT NULL,
                task ID NOT NULL,
                revision ID NOT NULL,
                changed TEXT NOT NULL,
                note TEXT
            )""",
            "CREATE INDEX outlive_task_changes_task ON outlive_task_changes (task, seq)",
            "CREATE SEQUENCE outlive_task_ids",
        ),
    ),
    (
        "0002_sessions",
        (
            # BYTEA means nothing to SQLite, which keeps bytes as bytes in any column.
            """CREATE TABLE outlive_sessions (
                id TEXT PRIMARY KEY,
                writer TEXT NOT NULL,
                heard DOUBLE PRECISION NOT NULL
            )""",
            """CREATE TABLE outlive_session_events (
                session TEXT NOT NULL,
                id ID NOT NULL,
                time DOUBLE PRECISION NOT NULL,
                body BYTEA NOT NULL,
                PRIMARY KEY (session, id)
            )""",
            "CREATE TABLE outlive_blobs (id TEXT PRIMARY KEY, data BYTEA NOT NULL)",
        ),
    ),
    (
        "0003_memories",
        (
            """CREATE TABLE outlive_memories (
                slug TEXT PRIMARY KEY,
                archived INTEGER NOT NULL,
                form BYTEA NOT NULL
            )""",
            "CREATE TABLE outlive_memory_steps (id ID PRIMARY KEY, form BYTEA NOT NULL)",
            # One row for each lock. That of the writers holds the last step; the others name who has them.
            """CREATE TABLE outlive_memory_locks (
                purpose TEXT PRIMARY KEY,
                step ID NOT NULL,
                holder TEXT NOT NULL,
                heard DOUBLE PRECISION NOT NULL
            )""",
            "INSERT INTO outlive_memory_locks (purpose, step, holder, heard) VALUES ('write', 0, '', 0)",
        ),
    ),
)


def bring_up_to_date(database: Database) -> None:
    """Apply what is missing, once, whoever comes first."""
    names = [name for name, _ in MIGRATIONS]
    applied = database.applied()
    _refuse_unknown(database, applied or set(), names)
    if applied is not None and applied.issuperset(names):
        return

    def work(connection: Connection) -> None:
        connection.run(
            database.schema(
                "CREATE TABLE IF NOT EXISTS outlive_migrations (name TEXT PRIMARY KEY, applied_at MOMENT NOT NULL)"
            )
        )
        present = {name for (name,) in connection.rows("SELECT name FROM outlive_migrations")}
        for name, statements in MIGRATIONS:
            if name not in present:
                for statement in statements:
                    connection.run(database.schema(statement))
                connection.run(
                    "INSERT INTO outlive_migrations (name, applied_at) VALUES (:name, :now)",
                    name=name,
                    now=datetime.now(UTC),
                )

    database.migrate(work)


def _refuse_unknown(database: Database, applied: set[str], known: list[str]) -> None:
    if unknown := sorted(applied - set(known)):
        raise FutureVersion(
            f"{database.url}: written by a newer outlive (it has {', '.join(unknown)}); upgrade outlive"
        )
