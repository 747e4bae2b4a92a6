"""API keys of providers from the system's keyring, for when the environment has none (extra `keyring`)."""

import threading
from collections.abc import Mapping

from outlive.config.dotenv import GOES_TO, KEY_VARIABLES

SERVICE = "outlive"
"""The name of the service: `keyring set outlive ANTHROPIC_API_KEY`."""
SECONDS = 20.0
"""Seconds to wait for a keyring, which may ask the user to unlock it."""


def keys_from_keyring(environment: Mapping[str, str], exported: Mapping[str, str]) -> dict[str, str]:
    """The keys that the environment lacks and the keyring has. Empty without the package or a keyring.

    A key is left out where the address that it would go to is not the user's own (`exported`): it came from a file of
    the workspace.
    """
    own = [name for name in KEY_VARIABLES if name not in environment and not _foreign(name, environment, exported)]
    found: dict[str, str] = {}
    thread = threading.Thread(target=_read, args=(own, found), daemon=True)
    thread.start()
    thread.join(SECONDS)
    return dict(found)


def _foreign(key: str, environment: Mapping[str, str], exported: Mapping[str, str]) -> bool:
    address = next(name for name, names in GOES_TO.items() if key in names)
    return address in environment and address not in exported


def _read(names: list[str], found: dict[str, str]) -> None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return
    for name in names:
        try:
            value = keyring.get_password(SERVICE, name)
        except (KeyringError, OSError, RuntimeError, ValueError):
            return  # no keyring, or a locked one
        if value:
            found[name] = value
