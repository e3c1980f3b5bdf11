"""A Python that has imported Snakemake and torch, and is forked for each job of the demo.

Most of the processor time of a short job is imports. The programs in `folder`, which come first in
PATH, hand their arguments, folder, variables and standard streams to a fork of `serve`. Tests use
it, too. Forks share the seed of Python's hashes, on which the order of sets depends; so equal bytes
are tested with two such processes.

``python workflow/warm.py COMMAND`` runs a command whose jobs are such forks. Snakemake's benchmarks
of them have the time from start to end alone, since it measures the program that waits. Like
`dry_run.py` it is no module of the library, because it imports Snakemake.
"""

import atexit
import functools
import gc
import importlib
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref
from pathlib import Path

#: The first argument of the process that forks.
SERVE = "--serve"

#: Packages that most stages and Snakemake import; nothing of the library itself.
IMPORTED = (
    *("snakemake.cli", "snakemake.jobs", "snakemake.storage", "snakemake.report.html_reporter"),
    *("dpath", "smart_open", "yte", "cyclopts", "jinja2", "jsonschema", "yaml", "altair"),
    *("pandas", "pyarrow.parquet", "scipy.sparse", "scipy.stats", "sklearn.linear_model"),
    *("rjieba", "torch", "torch._dynamo", "transformers.models.bert.modeling_bert"),
)

#: The program in `folder` in place of Python: it imports little, so it starts in .01 s.
CLIENT = """\
#!{python} -IS
import os, signal, socket, sys

words = sys.argv[1:]
if os.path.basename(sys.argv[0]) == "snakemake":
    words = ["-m", "snakemake", *words]
elif words[:1] != ["-m"] and not "".join(words[:1]).endswith(".py"):
    os.execv({python!r}, [{python!r}, *words])
pipe = socket.socket(socket.AF_UNIX)
try:
    pipe.connect({address!r})
except OSError:  # that process has ended, or runs on another host
    os.execv({python!r}, [{python!r}, *words])
variables = [f"{{name}}={{value}}" for name, value in os.environ.items()]
message = "\\0".join([os.getcwd(), str(len(words)), *words, *variables]).encode()
socket.send_fds(pipe, [len(message).to_bytes(8, "big")], [0, 1, 2])
pipe.sendall(message)
fork = int.from_bytes(pipe.recv(8), "big")
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(fork, number))
status = int.from_bytes(pipe.recv(8), "big", signed=True)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@functools.cache
def folder(number: int = 0) -> Path:
    """The folder of the programs; each number has a process of its own, which ends with this one.

    Where forks cannot be waited for, these are the programs themselves.
    """
    if not hasattr(os, "pidfd_open"):
        return Path(sys.executable).parent
    made = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    for name in ("python", "snakemake"):
        program = made / name
        program.write_text(CLIENT.format(python=sys.executable, address=str(made / "socket")))
        program.chmod(0o755)
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    variables["OMP_NUM_THREADS"] = "1"  # as Snakemake has it for a job of one thread
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, SERVE, made / "socket"],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # the terminal's signals reach it through the programs alone
    )
    assert server.stdout.readline() == b"ready\n"
    atexit.register(_end, server)
    return made


def _end(server: subprocess.Popen) -> None:
    """End a process of which no fork runs, also while it still imports."""
    server.kill()
    server.communicate()


def serve(address: str) -> list[str]:
    """Fork for each program that is asked for; in a fork, return its arguments."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    print("ready", flush=True)  # a program waits until all is imported
    for name in IMPORTED:
        importlib.import_module(name)
    for finalizer in [*weakref.finalize._registry]:  # cleanup is not for the forks
        finalizer.atexit = False
    gc.freeze()
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    waiting.register(sys.stdin, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is sys.stdin:  # whoever started it has ended
                sys.exit()
            if key.fileobj is listener:
                pipe = listener.accept()[0]
                length, streams, _, _ = socket.recv_fds(pipe, 8, 3)
                with pipe.makefile("rb") as message:
                    words = message.read(int.from_bytes(length, "big")).decode().split("\0")
                if not (number := os.fork()):
                    waiting.close()
                    listener.close()
                    pipe.close()
                    return become(words, streams)
                for stream in streams:
                    os.close(stream)
                pipe.sendall(number.to_bytes(8, "big"))
                fork = os.pidfd_open(number)
                waiting.register(fork, selectors.EVENT_READ, (number, pipe))
                waiting.register(pipe, selectors.EVENT_READ, (number, fork))
            elif isinstance(key.fileobj, int):  # a fork has ended
                number, pipe = key.data
                code = os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
                waiting.unregister(key.fileobj)
                os.close(key.fileobj)
                if pipe.fileno() >= 0:
                    pipe.sendall(code.to_bytes(8, "big", signed=True))
                    waiting.unregister(pipe)
                    pipe.close()
            elif key.fileobj.fileno() >= 0:  # the program was killed, and so is the fork
                signal.pidfd_send_signal(key.data[1], signal.SIGKILL)
                waiting.unregister(key.fileobj)
                key.fileobj.close()


def become(words: list[str], streams: list[int]) -> list[str]:
    """Take over the program's folder, variables and streams, and return its arguments."""
    place, count, *others = words
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(place)
    arguments, variables = others[: int(count)], others[int(count) :]
    os.environ.clear()
    os.environ.update(variable.split("=", 1) for variable in variables)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.executable = str(Path(sys.argv[2]).with_name("python"))  # that jobs find it too
    sys.path[:0] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return arguments


def run(words: list[str]) -> None:
    """Run a program as Python does."""
    sys.argv = words[words[0] == "-m" :]
    if words[0] == "-m":
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(words[0]).parent.resolve()))
        runpy.run_path(words[0], run_name="__main__")


def with_forks(command: list[str]) -> int:
    """Run a command whose jobs are forks; return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has it, too, and ends in its way
    programs = {"EVENHAND_PROGRAMS": str(folder())}
    done = subprocess.Popen(command, env=os.environ | programs, preexec_fn=_interruptible)
    return done.wait()


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run a command with forks, or be the process that forks."""
    if not sys.argv[1:]:
        sys.exit(__doc__)
    if sys.argv[1] != SERVE:
        sys.exit(with_forks(sys.argv[1:]))
    words, status = serve(sys.argv[2]), 0
    try:
        run(words)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if not isinstance(error.code, int | None):
            print(error.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    for thread in threading.enumerate():  # Snakemake's, which asks for jobs up to a second later
        if isinstance(thread, threading.Timer):
            thread.cancel()
    # as a fork of multiprocessing ends: to take all modules apart takes longer than most programs
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
