"""Skills: `skills/*/SKILL.md`. Only name and description are in the prompt until one is loaded."""


class Skills:
    """The skills of a workspace."""

    def load(self, name: str) -> str:
        """The whole text of a skill. Raises ToolError when there is none of that name."""
        raise NotImplementedError
