"""The filter for system calls, run by a small interpreter for each machine; test_sandbox asks the kernel."""

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from outlive.tools.permissions.seccomp import NUMBERS, RULES, program

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = "allowed", "killed"


def verdict(machine: str, number: int, *arguments: int, architecture: int | None = None) -> str:
    """What the kernel would do with a call."""
    code = program(machine)
    assert code is not None
    steps = list(struct.iter_unpack("=HBBI", code))
    found = ARCHITECTURES[machine] if architecture is None else architecture
    data = struct.pack("=IIQ6Q", number, found, 0, *(*arguments, *[0] * 6)[:6])
    at = accumulator = 0
    for _ in steps:
        operation, yes, no, value = steps[at]
        at += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x45:
                at += yes if accumulator & value else no
            case 0x05:
                at += value
            case 0x06:
                kinds = {0x7FFF0000: ALLOWED, 0x80000000: KILLED}
                return kinds.get(value) or errno.errorcode[value & 0xFFFF]
    raise AssertionError("the program has no end")


@pytest.mark.parametrize("machine", NUMBERS)
def test_every_rule_refuses_its_call_and_nothing_else_is_refused(machine: str) -> None:
    numbers = NUMBERS[machine]
    always = {name: error for name, tests, error in RULES if not tests}
    for name, number in numbers.items():
        wanted = errno.errorcode[always[name]] if name in always else "EAFNOSUPPORT" if "socket" in name else ALLOWED
        assert verdict(machine, number) == wanted, name
    for number in set(range(600)) - set(numbers.values()):
        assert verdict(machine, number) == ALLOWED


@pytest.mark.parametrize("machine", NUMBERS)
@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("clone", (0x1200011,), ALLOWED),
        ("clone", (0x3D0F00,), ALLOWED),
        ("clone", (0x10000011,), "EPERM"),
        ("clone", (0x20011,), "EPERM"),
        ("unshare", (0x400,), ALLOWED),
        ("unshare", (0x40000000,), "EPERM"),
        ("unshare", (0x80,), "EPERM"),
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), "EPERM"),
        ("ioctl", (0, 0x541C), "EPERM"),
        ("ioctl", (0, 1 << 32 | 0x5412), "EPERM"),
        ("socket", (1, 1, 0), ALLOWED),
        ("socket", (2, 1, 6), ALLOWED),
        ("socket", (10, 1, 0), ALLOWED),
        ("socket", (16, 3, 0), ALLOWED),
        ("socket", (16, 3, 15), "EAFNOSUPPORT"),
        ("socket", (40, 1, 0), "EAFNOSUPPORT"),
        ("socketpair", (1, 1, 0), ALLOWED),
        ("socketpair", (2, 1, 0), "EAFNOSUPPORT"),
        ("fchmod", (3, 0o755), ALLOWED),
        ("fchmod", (3, 0o4755), "EPERM"),
        ("fchmodat", (0, 0, 0o2775), ALLOWED),
        ("fchmodat", (0, 0, 0o4755), "EPERM"),
        ("openat", (0, 0, os.O_RDONLY, 0o7777), ALLOWED),
        ("openat", (0, 0, os.O_CREAT | os.O_WRONLY, 0o644), ALLOWED),
        ("openat", (0, 0, os.O_CREAT | os.O_WRONLY, 0o4755), "EPERM"),
        ("openat", (0, 0, os.O_TMPFILE | os.O_WRONLY, 0o4755), "EPERM"),
    ],
)
def test_arguments_decide_where_they_should(machine: str, name: str, arguments: tuple[int, ...], wanted: str) -> None:
    assert verdict(machine, NUMBERS[machine][name], *arguments) == wanted


def test_calls_under_another_numbering_end_the_program() -> None:
    assert verdict("x86_64", 0x40000000 | 165) == KILLED
    assert verdict("x86_64", 21, architecture=0x40000003) == KILLED
    assert verdict("aarch64", 21, architecture=ARCHITECTURES["x86_64"]) == KILLED
    assert program("riscv64") is None


@pytest.mark.parametrize(
    ("machine", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"there is no {header} here")
    text = Path(header).read_text()
    known = {name: int(number) for name, number in re.findall(r"#define __NR_(?:3264_)?(\w+)\s+(\d+)", text)}
    ours = NUMBERS[machine]
    assert {name: ours[name] for name in ours.keys() & known} == {name: known[name] for name in ours.keys() & known}
    assert len(ours.keys() & known) >= 40
