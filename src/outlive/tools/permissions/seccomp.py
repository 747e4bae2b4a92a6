"""The system calls that a sandboxed command may not make, as a BPF program for `bwrap --seccomp`.

It reduces the reachable part of the kernel; namespaces and dropped capabilities do the rest. Calls are allowed unless
listed. Nested namespaces are refused because they would restore capabilities. `ptrace` is allowed (debuggers,
sanitizers): a command can only trace processes in the same sandbox, under the same filter.
"""

import errno
import os
import stat
import struct
from dataclasses import dataclass

_CREATE_FLAGS = os.O_CREAT | 0o20000000  # O_TMPFILE without O_DIRECTORY
_NAMESPACE_FLAGS = 0x7E020000  # CLONE_NEWUSER, NEWNS, NEWPID, NEWNET, NEWIPC, NEWUTS, NEWCGROUP
_CLONE_NEWTIME = 0x80  # only of unshare; in clone the bit is a part of the exit signal
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _JUMP, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x05, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32_BIT = 0x40000000  # in the numbers of calls with 32-bit pointers


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on the lower 32 bits of an argument: has one of `bits`, or is (not) `among` `values`."""

    argument: int
    bits: int = 0
    values: tuple[int, ...] = ()
    among: bool = True


Rule = tuple[str, tuple[Test, ...], int]
"""A call, the conditions that must all hold to refuse it, and the error that it returns."""

_DENIED_CALLS = (
    *("mount", "umount2", "pivot_root", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount"),
    *("fspick", "mount_setattr", "setns", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load"),
    *("init_module", "finit_module", "delete_module", "quotactl", "quotactl_fd", "acct", "settimeofday"),
    *("clock_settime", "syslog", "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd"),
    *("open_by_handle_at", "fanotify_init", "lookup_dcookie", "nfsservctl", "vhangup", "iopl", "ioperm"),
)
_UNKNOWN_CALLS = ("clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register")
"""Refused as unknown, so that programs fall back to calls whose arguments a filter can see."""

RULES: tuple[Rule, ...] = (
    *((name, (), errno.EPERM) for name in _DENIED_CALLS),
    *((name, (), errno.ENOSYS) for name in _UNKNOWN_CALLS),
    ("clone", (Test(0, bits=_NAMESPACE_FLAGS),), errno.EPERM),
    ("unshare", (Test(0, bits=_NAMESPACE_FLAGS | _CLONE_NEWTIME),), errno.EPERM),
    ("ioctl", (Test(1, values=(_TIOCSTI, _TIOCLINUX)),), errno.EPERM),
    ("socket", (Test(0, values=(_UNIX, _INET, _INET6, _NETLINK), among=False),), errno.EAFNOSUPPORT),
    ("socket", (Test(0, values=(_NETLINK,)), Test(2, values=(0,), among=False)), errno.EAFNOSUPPORT),
    ("socketpair", (Test(0, values=(_UNIX,), among=False),), errno.EAFNOSUPPORT),
    # no setuid programs
    *((name, (Test(1, bits=stat.S_ISUID),), errno.EPERM) for name in ("chmod", "fchmod", "mknod", "creat")),
    *((name, (Test(2, bits=stat.S_ISUID),), errno.EPERM) for name in ("fchmodat", "fchmodat2", "mknodat")),
    ("open", (Test(1, bits=_CREATE_FLAGS), Test(2, bits=stat.S_ISUID)), errno.EPERM),
    ("openat", (Test(2, bits=_CREATE_FLAGS), Test(3, bits=stat.S_ISUID)), errno.EPERM),
)

_SAME_EVERYWHERE = {
    **{"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429},
    **{"fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "openat2": 437},
    **{"mount_setattr": 442, "quotactl_fd": 443, "fchmodat2": 452, "open_tree_attr": 467},
}
NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": _SAME_EVERYWHERE
    | {"open": 2, "ioctl": 16, "socket": 41, "socketpair": 53, "clone": 56, "creat": 85, "chmod": 90, "fchmod": 91}
    | {"syslog": 103, "mknod": 133, "vhangup": 153, "pivot_root": 155, "acct": 163, "settimeofday": 164}
    | {"mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173}
    | {"init_module": 175, "delete_module": 176, "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212}
    | {"clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "openat": 257}
    | {"mknodat": 259, "fchmodat": 268, "unshare": 272, "perf_event_open": 298, "fanotify_init": 300}
    | {"open_by_handle_at": 304, "setns": 308, "finit_module": 313, "kexec_file_load": 320, "bpf": 321}
    | {"userfaultfd": 323},
    "aarch64": _SAME_EVERYWHERE
    | {"lookup_dcookie": 18, "ioctl": 29, "mknodat": 33, "umount2": 39, "mount": 40, "pivot_root": 41}
    | {"nfsservctl": 42, "fchmod": 52, "fchmodat": 53, "openat": 56, "vhangup": 58, "quotactl": 60, "acct": 89}
    | {"unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106, "clock_settime": 112}
    | {"syslog": 116, "reboot": 142, "settimeofday": 170, "socket": 198, "socketpair": 199, "add_key": 217}
    | {"request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "perf_event_open": 241}
    | {"fanotify_init": 262, "open_by_handle_at": 265, "setns": 268, "finit_module": 273, "bpf": 280}
    | {"userfaultfd": 282, "kexec_file_load": 294},
}
"""Numbers of the calls by machine; calls that a machine lacks are not listed."""
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def program(machine: str) -> bytes | None:
    """The filter for a machine (`os.uname().machine`) in the kernel's format; None for an unknown machine."""
    if machine not in _MACHINES:
        return None
    steps = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, _MACHINES[machine], yes=1), _step(_RETURN, _KILL)]
    if machine == "x86_64":  # a second set of numbers for the same calls
        steps += [_step(_LOAD, _NUMBER), _step(_AT_LEAST, _X32_BIT, no=1), _step(_RETURN, _KILL)]
    for name, tests, error in RULES:
        if name in NUMBERS[machine]:
            steps += _rule(NUMBERS[machine][name], tests, error)
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _rule(number: int, tests: tuple[Test, ...], error: int) -> list[bytes]:
    """The steps of a rule, built backwards so that each condition knows the distance to the next rule."""
    steps = [_step(_RETURN, _ERRNO | error)]
    for test in reversed(tests):
        steps = _condition(test, len(steps)) + steps
    return [_step(_LOAD, _NUMBER), _step(_EQUAL, number, no=len(steps)), *steps]


def _condition(test: Test, rest: int) -> list[bytes]:
    """Steps that continue if the condition holds, else skip `rest` steps."""
    load = _step(_LOAD, _ARGUMENTS + 8 * test.argument)
    if test.bits:
        return [load, _step(_ANY_BIT, test.bits, no=rest)]
    count = len(test.values)
    if not test.among:
        return [load, *(_step(_EQUAL, value, yes=rest + count - at) for at, value in enumerate(test.values, 1))]
    compared = [_step(_EQUAL, value, yes=count - at + 1) for at, value in enumerate(test.values, 1)]
    return [load, *compared, _step(_JUMP, rest)]


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
