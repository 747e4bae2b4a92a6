"""The task store on a SQL database.

`blockers`, the number of unfinished dependencies, is kept in the row of each task and changed in the same
transaction as what it is derived from, so that asking for ready tasks costs by the answer and completing one
costs by its dependents. Rows are locked in the order of their ids.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from outlive.stores.sql.database import Connection, Database
from outlive.stores.sql.migrations import bring_up_to_date
from outlive.stores.tasks.protocol import Problem, TaskReader, TaskWriter, Watch
from outlive.stores.tasks.records import NO_NEW_TASKS, REPAIR, highest_id, wrong_mark
from outlive.stores.tasks.sql_transaction import OPEN_DEPENDENCIES, SQLTransaction, known_ids

T = TypeVar("T")


class SQLTaskStore:
    """See the module. `clock` replaces the clock of the database, for tests."""

    def __init__(self, database: Database, *, clock: Callable[[], datetime] | None = None) -> None:
        self.database = database
        self.clock = clock

    @property
    def url(self) -> str:
        return self.database.url

    def read(self, work: Callable[[TaskReader], T]) -> T:
        blank = self.database.blank()
        if blank is not None:
            return SQLTaskStore(blank, clock=self.clock).read(work)
        bring_up_to_date(self.database)
        return self.database.read(lambda connection: work(SQLTransaction(self.database, connection, self.clock)))

    def write(self, work: Callable[[TaskWriter], T]) -> T:
        bring_up_to_date(self.database)
        last = ""

        def attempt(connection: Connection) -> T:
            nonlocal last
            transaction = SQLTransaction(self.database, connection, self.clock)
            result = work(transaction)
            transaction.close()
            last = transaction.last_change
            return result

        def landed(connection: Connection) -> bool:
            return not last or bool(connection.rows("SELECT 1 FROM outlive_task_changes WHERE id = :id", id=last))

        return self.database.write(attempt, landed=landed)

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        bring_up_to_date(self.database)
        with self.database.watch() as watch:
            yield watch

    def left_out(self) -> list[str]:
        """Always empty: a row is whole or missing."""
        return []

    def check(self) -> list[Problem]:
        problems = [
            Problem(self.url, text, "restore a backup, or save what is left with `sqlite3 FILE .recover`")
            for text in self.database.integrity()
        ]
        bring_up_to_date(self.database)
        wrong, _ = self.database.read(lambda connection: _mark(self.database, connection))
        if wrong:
            where = f"{self.url}, outlive_task_ids"
            problems.append(Problem(where, wrong, NO_NEW_TASKS, repairable=True, code=REPAIR))
        what, remedy = "the number of unfinished dependencies is wrong", "repair it"
        problems += [
            Problem(
                f"{self.url}, row {number} of outlive_tasks", what, remedy, repairable=True, task=number, code=REPAIR
            )
            for number in self.database.read(_miscounted)
        ]
        what = "the audit trail knows this task, but its row is gone"
        remedy = "restore it from a backup"
        problems += [
            Problem(
                f"{self.url}, row {number} of outlive_tasks", what, remedy, lost=True, task=number, code="lost_task"
            )
            for number in self.database.read(_lost)
        ]
        return problems

    def repair(self) -> list[str]:
        bring_up_to_date(self.database)

        def work(connection: Connection) -> list[str]:
            fixed = _miscounted(connection)
            connection.run(f"UPDATE outlive_tasks SET blockers = ({OPEN_DEPENDENCIES}) WHERE id IN :ids", ids=fixed)
            done = [f"recounted the unfinished dependencies of task {number}" for number in fixed]
            wrong, right = _mark(self.database, connection)
            if wrong:
                self.database.set_high_water(connection, right)
                done.append(f"set the mark of the last id to {right}, for it {wrong}")
            return done

        return self.database.write(work)

    def close(self) -> None:
        self.database.close()


def _miscounted(connection: Connection) -> list[int]:
    rows = connection.rows(f"SELECT id FROM outlive_tasks WHERE blockers <> ({OPEN_DEPENDENCIES}) ORDER BY id")
    return [row[0] for row in rows]


def _mark(database: Database, connection: Connection) -> tuple[str | None, int]:
    """What is wrong with the mark of the last id, and what it should be."""
    mark, ids = database.high_water(connection), known_ids(connection)
    wrong = wrong_mark(mark, lambda: max(ids, default=0))
    right = highest_id(ids, 0 if wrong else mark)
    if not wrong and mark < right:
        wrong = f"says that the last id was {mark}, while {right} was given out"
    return wrong, right


def _lost(connection: Connection) -> list[int]:
    rows = connection.rows(
        "SELECT DISTINCT task FROM outlive_task_changes c "
        "WHERE NOT EXISTS (SELECT 1 FROM outlive_tasks t WHERE t.id = c.task) AND NOT EXISTS "
        "(SELECT 1 FROM outlive_task_changes d WHERE d.task = c.task AND d.op = 'delete') ORDER BY task"
    )
    return [row[0] for row in rows]
