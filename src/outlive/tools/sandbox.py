"""Commands in an OS sandbox (bubblewrap): the workspace is writable, the rest read-only, the network off."""


class Sandbox:
    """How a command is started."""

    def argv(self, command: str) -> list[str]:
        """The arguments that run a shell command, inside the sandbox when there is one."""
        raise NotImplementedError
