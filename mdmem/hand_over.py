"""Hand a hook over to a process that serves hooks (`mdmem.recall.served`), and print its answer.

The launcher runs this text if the watcher's socket exists; it imports nothing slow.
"""

import sys

WAIT_SECONDS = 0.05
"""Without an answer in this time, the hook does its work itself."""
HOOK_SECONDS = 10.0
"""No hook takes longer."""
PRINT_SECONDS, PIECE_BYTES = 1.0, 4096
"""Time limit for what to say of a failure and for writing a piece of output; the size of a piece.

As in `mdmem.agents.hook_process`.
"""


def give(path: str, rescue: str) -> None:
    """Hand this process's hook over to the server at `path` and exit; return if there is none, with stdin untouched.

    rescue: the file of `mdmem.launch`, which tells the user about a lost event.
    """
    import _socket
    import posix

    words = [word.encode("utf-8", "surrogateescape") for word in sys.argv[2:]]
    pairs = [b"%b=%b" % pair for pair in posix.environ.items()]
    data = b"\0".join([*(words[2:3] or [b""]), posix.getcwdb(), *words[:1], b"", *pairs])
    data = len(data).to_bytes(4, sys.byteorder) + data
    stdin = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, bytes(4))]
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.settimeout(WAIT_SECONDS)
        link.connect(path)
        taken = link.sendmsg([data], stdin) == len(data) and link.recv(1) == b"+" and link.send(b"!")
    except OSError:
        taken = False
    if not taken:
        link.close()
        return
    said = b""
    try:
        link.settimeout(HOOK_SECONDS)
        while piece := link.recv(65536):
            said += piece
    except OSError:
        said = b""
    is_failed = said[:1] != b"."
    if is_failed or said[1:]:
        import _signal  # type: ignore[import-not-found]

        _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, PRINT_SECONDS)
    if is_failed:
        found = {"__name__": "launch"}
        with open(rescue) as file:
            exec(file.read(), found)  # noqa: S102 - mdmem's own
        said = b"." + found["lost_message"](sys.argv[2])  # type: ignore[operator]
    out = said[1:]
    try:
        while out:
            _signal.setitimer(_signal.ITIMER_REAL, PRINT_SECONDS)
            out = out[posix.write(1, out[:PIECE_BYTES]) :]
    except OSError:
        pass  # the agent has closed its end
    if is_failed:
        found["record_loss"](sys.argv[2], f"{path.rpartition('/')[0]}/mdmem-run")  # type: ignore[operator]
    posix._exit(0)


if "served_at" in globals():
    give(*globals()["served_at"])
