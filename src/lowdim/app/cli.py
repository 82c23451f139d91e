"""The command line: commands, options, and errors as one line.

Heavy modules are imported only when a command runs, so that --help and --version are fast. Nearly everything else is
imported inside `main`, so that Ctrl-C at any time after the first milliseconds is one line and not a traceback.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

EXTRA = ("jinja2", "markupsafe", "matplotlib", "polars", "rich")  # libraries of the extra [app]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 if it is done, 2 after an error of the user, 130 after Ctrl-C."""
    pressed = _listen() if argv is None else []
    try:
        from lowdim.app.parsers import parser

        arguments = parser(sys.argv[1:] if argv is None else argv).parse_args(argv)
        if arguments.version:
            return _show_version(arguments.verbose)
        if arguments.command is None:
            parser().print_help()
            return 0
        code = _run(arguments, pressed)
        if argv is None:
            _ignore()  # all is written: the end of the interpreter is not a stop
            gc.freeze()  # nor need it look for cycles in every library that was loaded, which takes 0.3 to 0.7 s
        return code
    except KeyboardInterrupt:
        try:
            return _stopped(as_program=argv is None)
        except KeyboardInterrupt:  # polars raises its own for the same key, a moment before the interpreter's
            return _stopped(as_program=argv is None)
    except SystemExit as done:  # help, version and errors of the options
        return done.code if isinstance(done.code, int) else 0
    except Exception:
        if not pressed:
            raise
        return _stopped(as_program=argv is None)  # what an interrupted import has left behind


def _show_version(verbose: bool) -> int:
    from lowdim import __version__

    if verbose:
        from lowdim.app.commands.version import lines

        print("\n".join(lines()))
    else:
        print(f"lowdim {__version__}")
    return 0


def _listen() -> list[int]:
    """Keys pressed from now on: a compiled module that is interrupted while it is imported raises another error."""
    pressed: list[int] = []

    def press(number: int, frame: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    with suppress(ValueError):  # not in the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, press)
    return pressed


def _ignore() -> None:
    """Further Ctrl-C."""
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stopped(as_program: bool) -> int:
    """Ctrl-C: one line on stderr, whatever the interpreter was doing; further Ctrl-C are ignored."""
    if as_program:
        _ignore()
    _fail("stopped", 130)
    if as_program:  # a normal exit can end in a signal if an import was interrupted
        with suppress(OSError):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)
    return 130


def _run(arguments: argparse.Namespace, pressed: list[int]) -> int:
    from lowdim._core.runtime.memory import config
    from lowdim.app.errors import UserError

    expected = (UserError, ValueError, TypeError, OSError, MemoryError, ImportError)
    try:
        from lowdim.app.commands import command

        with config(memory_limit=getattr(arguments, "limit_memory", None)):  # reading included
            code = command(arguments.command)(arguments)
        sys.stdout.flush()
        return code or 0
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except expected as error:
        if arguments.traceback:
            raise
        if pressed and isinstance(error, ImportError):
            raise KeyboardInterrupt from error
        return _fail(_missing_extra(error) or _one_line(error, arguments.command), 2)


def _missing_extra(error: BaseException) -> str | None:
    """What to install, where the libraries of the command line are not there."""
    lost = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return f"the command line needs {lost}; install it with: pip install 'lowdim[app]'" if lost in EXTRA else None


def _one_line(error: BaseException, command: str) -> str:
    from lowdim.app.errors import UserError, with_option_names

    said = str(error)
    if not isinstance(error, UserError):  # of the library, which speaks Python
        said = with_option_names(said, command)
    return " ".join(said.split()) or type(error).__name__


def _fail(message: str, code: int) -> int:
    from lowdim._core.runtime.printable import printable

    print(f"lowdim: {printable(message)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
