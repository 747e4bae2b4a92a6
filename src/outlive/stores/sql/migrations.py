"""The schema as an append-only list. A released migration is never edited.

Neutral words, translated by `Database.schema`: ID (a 64-bit integer), MOMENT (a point in time), COUNTED (an
auto-incremented primary key), CREATE SEQUENCE (a source of numbers). A statement for one database only begins with
its name: `[sqlite]`, `[postgres]`.
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
    (
        "0004_memory_changes",
        (
            # A writer moves the clock and marks each changed row with it, so that others read only what is new
            # to them. The triggers do it for those who do not: people, and an outlive that was running before this.
            "CREATE TABLE outlive_memory_clock (last ID NOT NULL)",
            "INSERT INTO outlive_memory_clock (last) VALUES (0)",
            "ALTER TABLE outlive_memories ADD COLUMN changed ID NOT NULL DEFAULT 0",
            "CREATE INDEX outlive_memories_changed ON outlive_memories (changed)",
            *(
                f"""[sqlite] CREATE TRIGGER outlive_memory_{name} AFTER {name.upper()} ON outlive_memories WHEN {when}
                BEGIN
                    UPDATE outlive_memory_clock SET last = last + 1;
                    UPDATE outlive_memories SET changed = (SELECT last FROM outlive_memory_clock)
                        WHERE slug = {row}.slug;
                END"""
                for name, row, when in (
                    ("insert", "NEW", "NEW.changed = 0"),
                    ("update", "NEW", "NEW.changed = OLD.changed"),
                    ("delete", "OLD", "TRUE"),
                )
            ),
            """[postgres] CREATE FUNCTION outlive_mark_memory() RETURNS trigger
                LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
                BEGIN
                    UPDATE outlive_memory_clock SET last = last + 1;
                    IF TG_OP = 'DELETE' THEN
                        RETURN OLD;
                    END IF;
                    SELECT last INTO NEW.changed FROM outlive_memory_clock;
                    RETURN NEW;
                END $$""",
            *(
                f"""[postgres] CREATE TRIGGER outlive_memory_{name} BEFORE {name.upper()} ON outlive_memories
                FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION outlive_mark_memory()"""
                for name, when in (
                    ("insert", "NEW.changed = 0"),
                    ("update", "NEW.changed = OLD.changed"),
                    ("delete", "TRUE"),
                )
            ),
        ),
    ),
    ("0005_memory_token", ("CREATE TABLE outlive_memory_token (token TEXT NOT NULL)",)),
    (
        "0006_fleet",
        (
            """CREATE TABLE outlive_fleet (
                kind TEXT NOT NULL,
                id TEXT NOT NULL,
                form BYTEA NOT NULL,
                PRIMARY KEY (kind, id)
            )""",
        ),
    ),
    (
        "0007_session_lease",
        (
            "ALTER TABLE outlive_sessions ADD COLUMN epoch ID NOT NULL DEFAULT 0",
            "ALTER TABLE outlive_sessions ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        ),
    ),
    ("0008_fleet_changes", ("ALTER TABLE outlive_fleet ADD COLUMN changes TEXT NOT NULL DEFAULT ''",)),
)


def bring_up_to_date(database: Database) -> bool:
    """Apply the missing migrations, each once. Returns True if the database was empty."""
    if database.current:
        return False
    names = {name for name, _ in MIGRATIONS}
    applied = database.applied()
    if unknown := sorted((applied or set()) - names):
        raise FutureVersion(
            f"{database.url}: written by a newer outlive (it has {', '.join(unknown)}); upgrade outlive"
        )
    if applied is None or applied < names:
        database.migrate(lambda connection: _migrate(database, connection))
    database.current = True
    return applied is None


def _migrate(database: Database, connection: Connection) -> None:
    connection.run(
        database.schema(
            "CREATE TABLE IF NOT EXISTS outlive_migrations (name TEXT PRIMARY KEY, applied_at MOMENT NOT NULL)"
        )
    )
    present = {name for (name,) in connection.rows("SELECT name FROM outlive_migrations")}
    for name, statements in MIGRATIONS:
        if name in present:
            continue
        for statement in statements:
            only, _, bare = statement.partition("] ") if statement.startswith("[") else ("", "", statement)
            if only in ("", f"[{database.kind}"):
                connection.run(database.schema(bare))
        connection.run(
            "INSERT INTO outlive_migrations (name, applied_at) VALUES (:name, :now)", name=name, now=datetime.now(UTC)
        )
