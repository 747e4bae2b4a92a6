"""Commands that run: in their own process group, bounded in time and output, killed as a whole."""


class Processes:
    """The commands of a session, those in the background by handle."""

    async def close(self) -> None:
        """End all of them."""
