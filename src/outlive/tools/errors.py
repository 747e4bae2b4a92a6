"""What goes wrong with a call."""

from outlive.errors import OutliveError


class ToolError(OutliveError):
    """The call cannot be done as it was made; the message tells the model what was wrong."""
