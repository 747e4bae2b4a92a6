"""Known vulnerabilities of the pinned packages, and which of them could not be looked up (`make audit`)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
FOUND, NOT_REACHED = 1, 3


def judged(packages: list[dict[str, Any]]) -> tuple[int, str]:
    """Exit code and report for what pip-audit says of each package."""
    skipped = [one for one in packages if "skip_reason" in one]
    checked = [one for one in packages if "skip_reason" not in one]
    lines = [
        f"{one['name']} {one['version']}: {flaw['id']}, fixed in {', '.join(flaw['fix_versions']) or '-'}"
        for one in checked
        for flaw in one["vulns"]
    ]
    found = len(lines)
    lines.append(f"{len(checked)} of {len(packages)} packages looked up: {found} known vulnerabilities")
    if skipped:
        names = ", ".join(one["name"] for one in skipped)
        lines.append(f"NOT looked up, because the data could not be reached ({skipped[0]['skip_reason']}): {names}")
    return FOUND if found else NOT_REACHED if skipped else 0, "\n".join(lines)


def main(program: str) -> int:
    options = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]
    command = [program, "--requirement", str(ROOT / "constraints.txt"), *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError):
        last = (run.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1]
        print(f"nothing was looked up, because the data could not be reached: {last}")
        return NOT_REACHED
    code, report = judged(packages)
    print(report)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
