"""Errors of memory operations. Nothing was changed."""

from outlive.errors import OutliveError


class MemoryRefused(OutliveError):
    pass


class UnknownMemory(MemoryRefused):
    pass


class InvalidMemory(MemoryRefused):
    pass


class MemoryExists(MemoryRefused):
    pass


class NeedsConfirmation(MemoryRefused):
    pass


class PoisonedMemory(MemoryRefused):
    pass


class UndoConflict(MemoryRefused):
    pass


class InvalidAnswer(MemoryRefused):
    pass
