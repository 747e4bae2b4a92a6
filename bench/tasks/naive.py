"""The baseline: one JSON file a task, read each time, all of them scanned when one is completed."""

import json
from pathlib import Path
from typing import Any


class NaiveStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def create(self, number: int, subject: str, blocked_by: list[int]) -> None:
        form = {
            "id": number,
            "subject": subject,
            "description": "",
            "status": "pending",
            "blockedBy": blocked_by,
            "blocks": [],
            "owner": "",
        }
        self._save(form)

    def ready(self) -> list[dict[str, Any]]:
        return [form for form in self._all() if form["status"] == "pending" and not form["blockedBy"]]

    def complete(self, number: int) -> None:
        form = json.loads((self.folder / f"task_{number}.json").read_text())
        form["status"] = "completed"
        self._save(form)
        for other in self._all():
            if number in other["blockedBy"]:
                other["blockedBy"].remove(number)
                self._save(other)

    def _all(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in self.folder.glob("task_*.json")]

    def _save(self, form: dict[str, Any]) -> None:
        (self.folder / f"task_{form['id']}.json").write_text(json.dumps(form, indent=2))
