"""Identify the run of a job: a job whose run was killed may not write any more."""

import os
import socket

from evenhand.errors import InputError

#: The variable by which a job knows the process of its run: ``machine number``.
OWNER = "EVENHAND_OWNER"


def identity() -> str:
    """Return the machine and process id of this process."""
    return f"{socket.gethostname()} {os.getpid()}"


def check_owner() -> None:
    """Stop a job whose run was killed: a later run may make the same files of other inputs.

    Raises
    ------
    InputError
        The run that started this job ran on this machine and is dead.
    """
    host, _, pid = os.environ.get(OWNER, "").rpartition(" ")
    if host == socket.gethostname():
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            problem = "the run that started this job was killed; the job writes nothing"
            raise InputError(problem) from None
        except PermissionError:  # a process of another user lives under its number
            return
