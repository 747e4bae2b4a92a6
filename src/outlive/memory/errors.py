"""What is refused about memories. Nothing was changed.

OutliveError
├── MemoryRefused
│   ├── UnknownMemory       no memory has that name
│   ├── InvalidMemory       a field has a value it may not have
│   ├── MemoryExists        it is known already, or another has that name
│   ├── NeedsConfirmation   a tool or a page said it, and it instructs: the user has to agree
│   ├── PoisonedMemory      it tries to take over the harness
│   ├── UndoConflict        the step cannot be taken back, because later ones depend on it
│   └── InvalidAnswer       a model's answer is empty, partial or not what was asked for
└── SecretFound             (outlive.secrets) it contains a secret
"""

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
