"""Ready tasks as JSON, built by SQLite itself with nothing else loaded. See `outlive.cli.quick`."""

import sqlite3
from pathlib import Path

from outlive.regular import UnusableFile, refuse_irregular
from outlive.stores.locations import path_of

SCHEMA = (
    "0001_tasks",
    "0002_sessions",
    "0003_memories",
    "0004_memory_changes",
    "0005_memory_token",
    "0006_fleet",
    "0007_session_lease",
    "0008_fleet_changes",
)
"""The migrations that the statement was written for; a test compares them with those of today."""

_READY = """
SELECT json_group_array(json(form)) FROM (
  SELECT json_object(
    'id', id, 'subject', subject, 'description', description, 'status', status, 'blockedBy', json('[]'),
    'blocks', json((SELECT json_group_array(task) FROM (
      SELECT e.task FROM outlive_task_edges e JOIN outlive_tasks d ON d.id = e.task
      WHERE e.depends_on = t.id AND d.archived_at IS NULL ORDER BY e.task))),
    'owner', owner,
    'dependsOn', json((SELECT json_group_array(depends_on) FROM (
      SELECT e.depends_on FROM outlive_task_edges e WHERE e.task = t.id ORDER BY e.depends_on))),
    'priority', priority, 'labels', json(labels),
    'createdAt', replace(replace(created_at, '.000000', ''), '+00:00', 'Z'),
    'updatedAt', replace(replace(updated_at, '.000000', ''), '+00:00', 'Z'),
    'completedAt', completed_at, 'lease', NULL, 'revision', revision, 'result', result,
    'metadata', json(metadata), 'version', 1) AS form
  FROM outlive_tasks t WHERE status = 'pending' AND blockers = 0
  ORDER BY priority, created_at, id LIMIT :limit)"""

_PLAIN = """
SELECT NOT EXISTS (
    SELECT 1 FROM outlive_tasks WHERE status = 'in_progress' AND lease_expires_at IS NOT NULL
    AND NOT lease_expires_at BETWEEN strftime('%Y-%m-%dT%H:%M:%f', 'now')
      AND strftime('%Y-%m-%dT%H:%M:%f', 'now', '+7 days', '+1 second'))
  AND NOT EXISTS (SELECT 1 FROM outlive_tasks WHERE status = 'pending' AND blockers = 0
    AND (extra <> '{}' OR lease_owner IS NOT NULL OR completed_at IS NOT NULL))"""


def ready_json(url: str, base: Path, limit: int | None) -> bytes | None:
    """The answer; None for another schema, an expired lease, fields of other tools, or no file."""
    path = path_of(url, base)
    if path.is_symlink() or not path.is_file():
        return None
    try:
        for ending in ("", "-journal", "-wal", "-shm"):
            refuse_irregular(f"{path}{ending}")
    except UnusableFile:
        return None
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    try:
        connection.execute("BEGIN")
        applied = connection.execute("SELECT name FROM outlive_migrations ORDER BY name").fetchall()
        if tuple(name for (name,) in applied) != SCHEMA or connection.execute(_PLAIN).fetchone() != (1,):
            return None
        limit = -1 if limit is None else limit
        text: str = connection.execute(_READY, {"limit": limit}).fetchone()[0]
        return text.encode()
    except sqlite3.Error:
        return None
    finally:
        connection.close()
