"""What retrieval refuses."""

from outlive.errors import OutliveError


class DenseUnavailable(OutliveError):
    """Dense retrieval was asked for by name, and its parts are not installed or cannot be loaded."""
