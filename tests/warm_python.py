"""Stands in for the interpreter in what `git mem install` writes: `-m gitmem` runs in a fork of the warm process.

`tests/warm_process.py` writes it to a file that ends with a call of `main`. Another module or program, and a command on a
terminal, gets the interpreter itself. It imports next to nothing, because it is started for each hook.
"""

import _socket
import marshal
import os
import sys
from array import array

STREAMS = (0, 1, 2)


def command_of(words: list[str]) -> list[str] | None:
    """The arguments of `python -m gitmem`; None if it is another program that is to run."""
    while words and words[0] in ("-E", "-P"):
        words = words[1:]
    if words[:2] == ["-m", "gitmem"]:
        return words[2:]
    return None


def connected(address: str) -> _socket.socket | None:
    """A connection to the warm process, which then has our streams; None where a stream is a terminal or is closed, or
    where the warm process is gone or another user's."""
    if any(map(os.isatty, STREAMS)):
        return None
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(address)
        connection.sendmsg([b"r"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array("i", STREAMS))])
    except OSError:
        return None
    return connection


def exit_code(connection: _socket.socket, arguments: list[str]) -> int:
    """Have a command run; its exit code, negative if a signal ended it."""
    connection.sendall(marshal.dumps((arguments, os.getcwd(), dict(os.environ))))
    connection.shutdown(_socket.SHUT_WR)
    answer = b""
    while received := connection.recv(4096):
        answer += received
    _, code = answer.split()  # the process id is for who wants to end it
    return int(code)


def main(python: str, address: str, started_with: dict[str, str], read_at_start: tuple[str, ...]) -> None:
    """Run what the command line says, in a fork of the warm process or with `python`.

    `address`: path of the socket. `started_with`: the variables of the warm process that an interpreter reads when it
    starts, whose names begin with `read_at_start`; with other values the command starts in the usual way.
    """
    arguments = command_of(sys.argv[1:])
    at_start = {name: value for name, value in os.environ.items() if name.startswith(read_at_start)}
    connection = None
    if arguments is not None and at_start == started_with:
        connection = connected(address)
    if arguments is None or connection is None:
        os.execv(python, [python, *sys.argv[1:]])
    code = exit_code(connection, arguments)
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)
