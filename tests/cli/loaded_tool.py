# SPDX-License-Identifier: MIT
"""Starts the tool as a test does: loaded_tool.run and loaded_tool.Popen stand for those of subprocess.

Where FLIGHTDECK_LOADED_TOOL names the library of loaded_tool.cpp, a command is a fork of a tool that has loaded its
libraries already; elsewhere, and for options that are not named here, it is a new process. Both are the same to a
test: words, folder, environment, signals and status are the command's own.
"""

import os
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

LIBRARY = os.environ.pop("FLIGHTDECK_LOADED_TOOL", "")
# Variables that libraries read while they are loaded: a tool waits for each set of them.
LOADED_WITH = ("DNNL_", "GOMP_", "KMP_", "LD_", "MALLOC_", "MKL_", "OMP_", "ONEDNN_", "OPENBLAS_", "PYTORCH_", "TORCH_")
# Without it the tool starts itself again: a new process each time.
GUARD = "FLIGHTDECK_ENV_SET"
OPTIONS = {"cwd", "encoding", "env", "errors", "stderr", "stdin", "stdout", "text"}

_waiting = {}


def _socket_of(path, environment):
    """To the tool that waits, which is started where there is none yet; None where none can."""
    loaded_with = {name: value for name, value in environment.items() if name.startswith(LOADED_WITH)}
    key = (path, *sorted(loaded_with.items()))
    if key not in _waiting:
        _waiting[key], its = socket.socketpair()
        preloaded = ":".join([LIBRARY, *filter(None, [loaded_with.get("LD_PRELOAD")])])
        variables = {**environment, "LD_PRELOAD": preloaded, "FLIGHTDECK_LOADED_TOOL_SOCKET": str(its.fileno())}
        variables.pop("FLIGHTDECK_FAULTS", None)
        with its:
            # It ends when this process does.
            subprocess.Popen([path], pass_fds=[its.fileno()], env=variables,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode = 0
        # A system that does not let it wait ends it.
        if not _waiting[key].recv(1):
            _waiting[key] = None
    return _waiting[key]


def _number(told):
    text = told.recv(4, socket.MSG_WAITALL)
    if len(text) < 4:
        raise RuntimeError("the tool that waits has ended: see what it said")
    return struct.unpack("=i", text)[0]


class Process:
    """As much of a subprocess.Popen as tests ask for."""

    def __init__(self, waiting, words, *, cwd=None, env=None, stdin=None, stdout=None, stderr=None, **text):
        self.args = words
        self.returncode = None
        opened = []

        def file_of(stream, default, flags):
            if stream is None:
                return default
            if stream == subprocess.DEVNULL:
                opened.append(os.open(os.devnull, flags))
                return opened[-1]
            return stream if isinstance(stream, int) else stream.fileno()

        def pipe_or_file(stream, default):
            if stream != subprocess.PIPE:
                return None, file_of(stream, default, os.O_WRONLY)
            end, file = os.pipe()
            opened.append(file)
            mode = "r" if any(text.values()) else "rb"
            return open(end, mode, encoding=text.get("encoding"), errors=text.get("errors")), file

        read_from = file_of(stdin, 0, os.O_RDONLY)
        self.stdout, out = pipe_or_file(stdout, 1)
        self.stderr, err = (None, out) if stderr == subprocess.STDOUT else pipe_or_file(stderr, 2)
        environment = os.environ if env is None else env
        parts = [os.path.abspath(cwd or os.curdir), str(len(words)), *words,
                 *(f"{name}={value}" for name, value in environment.items())]
        order = b"".join(os.fsencode(part) + b"\0" for part in parts)
        self._told, its = socket.socketpair()
        with its:
            socket.send_fds(waiting, [struct.pack("=I", len(order))], [read_from, out, err, its.fileno()])
            waiting.sendall(order)
        for file in opened:
            os.close(file)
        self.pid = _number(self._told)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for stream in filter(None, (self.stdout, self.stderr)):
            stream.close()
        self.wait()

    def wait(self, timeout=None):
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                self.returncode = _number(self._told)
            except (BlockingIOError, socket.timeout):
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self._told.close()
        return self.returncode

    def poll(self):
        try:
            return self.wait(timeout=0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout=None):
        """Reads to the end; returns what was written to standard output and standard error."""
        end = None if timeout is None else time.monotonic() + timeout
        said = {}

        def read(stream):
            with stream:
                said[stream] = stream.read()

        readers = [threading.Thread(target=read, args=[stream], daemon=True)
                   for stream in (self.stdout, self.stderr) if stream]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(None if end is None else max(0.0, end - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(None if end is None else max(0.1, end - time.monotonic()))
        return said.get(self.stdout), said.get(self.stderr)


def Popen(command, **options):
    environment = options.get("env") or os.environ
    can_wait = LIBRARY and GUARD in environment and not set(options) - OPTIONS and options.get("stdin") != subprocess.PIPE
    waiting = _socket_of(os.path.abspath(command[0]), environment) if can_wait else None
    if waiting is None:
        return subprocess.Popen(command, **options)
    return Process(waiting, [os.fspath(word) for word in command], **options)


def run(command, *, capture_output=False, check=False, input=None, timeout=None, **options):
    if capture_output:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if input is None:
        return _ended(command, options, timeout, check)
    # A file, so that nobody has to write while it is read.
    with tempfile.TemporaryFile("w+" if isinstance(input, str) else "w+b") as file:
        file.write(input)
        file.seek(0)
        return _ended(command, {**options, "stdin": file}, timeout, check)


def _ended(command, options, timeout, check):
    process = Popen(command, **options)
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException:
        process.kill()
        process.wait()
        raise
    done = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done
