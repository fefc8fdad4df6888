"""End-points for Python: an address for each thread, and buffers without copies.

    import headway

    at = headway.open("render/7")
    headway.send(headway.lookup("collect"), b"some bytes", tag=3, source=at)
    with at.receive() as message:
        numpy.frombuffer(message.data, dtype="f4")   # the buffer itself, no copy

A buffer is `headway.buffer(bytes)`: `.data` is a writable memoryview of memory that is sent from
directly. Sending gives it away; a message received is such a buffer, given back by `release()` or
at the end of `with`. `at.handle(function)` calls a function for every message instead.
docs/endpoints.md explains the rest: the calls are the same.

In asyncio, `message = await at.message(tag=3)`.

The binding uses cffi in its ABI mode: nothing is compiled. HEADWAY_LIBRARY is the path of
libheadway.so.0 if that is neither in this package's prefix nor on the loader's path.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import cffi

if TYPE_CHECKING:
    from typing_extensions import Buffer as Bytes, Self

__all__ = ["AGAIN", "Buffer", "EndPoint", "Error", "Gone", "Message", "TimedOut", "address",
           "buffer", "count", "dispatch", "dispatch_policy", "join", "leave", "lookup", "memory",
           "open", "process", "send", "wait_any"]

_HERE = pathlib.Path(__file__).resolve().parent


def _header() -> str:
    """The declarations of headway/endpoint.h, in the form that cffi parses."""
    for folder in (_HERE, *(up / "include" / "headway" for up in _HERE.parents)):
        if (folder / "endpoint.h").is_file():
            text = (folder / "endpoint.h").read_text(encoding="utf-8")
            break
    else:
        raise ImportError("headway/endpoint.h is not where it was installed")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'extern "C" \{', "", text).replace("HEADWAY_PUBLIC", "")
    text = re.sub(r"^#ifdef __cplusplus\n\}?\n?#endif", "", text, flags=re.M)
    text = re.sub(r"^[ ]*#.*$", "", text, flags=re.M)
    return re.sub(r"^\}$", "", text, flags=re.M)


def _library() -> str:
    named = os.environ.get("HEADWAY_LIBRARY")
    if named:
        return named
    for up in _HERE.parents:
        for folder in ("lib", "lib64"):
            if (up / folder / "libheadway.so.0").exists():
                return str(up / folder / "libheadway.so.0")
    return "libheadway.so.0"


_ffi = cffi.FFI()
_ffi.cdef(_header())
_lib = _ffi.dlopen(_library())

AGAIN: int = _lib.HEADWAY_AGAIN
_ANY_TAG = -(2**31)


class Error(RuntimeError):
    """A call failed; `status` is the status of the C interface."""

    def __init__(self, status: int, detail: str = "") -> None:
        super().__init__(detail or _ffi.string(_lib.headway_status_text(status)).decode())
        self.status = status


class TimedOut(Error, TimeoutError):
    """The limit passed, or the call would have had to wait and the limit was 0."""


class Gone(Error, ConnectionError):
    """The end-point was closed, or its process ended."""


def _check(status: int) -> None:
    if status == _lib.HEADWAY_OK:
        return
    if status in (_lib.HEADWAY_TIMED_OUT, _lib.HEADWAY_AGAIN):
        raise TimedOut(status)  # headway_error_text is about an earlier call
    detail = _ffi.string(_lib.headway_error_text()).decode()
    raise (Gone if status == _lib.HEADWAY_GONE else Error)(status, detail)


def _limit(seconds: float | None) -> int:
    return -1 if seconds is None else int(seconds * 1e9)


def join() -> None:
    """Joins the job, which the first other call would do. Waits until every process joins."""
    _check(_lib.headway_join())


def leave() -> None:
    """Leaves the job, which the end of the program would do."""
    _check(_lib.headway_leave())


@functools.cache
def _leave_before_python() -> None:
    """Leaves the job before the interpreter ends, because handlers need the interpreter."""
    atexit.register(_lib.headway_leave)


def process() -> int:
    """This process's number in the job, from 0."""
    return _lib.headway_process()


def count() -> int:
    """How many processes the job has."""
    return _lib.headway_process_count()


def dispatch(rounds: int = 1) -> int:
    """Polls for messages and runs the handlers that are ready. How many messages were handled."""
    return _lib.headway_endpoint_dispatch(rounds)


def dispatch_policy(how: str) -> None:
    """"auto", "pause", "yield", "loop" or "event": as HEADWAY_DISPATCH, at run time."""
    _check(_lib.headway_endpoint_dispatch_policy(
        getattr(_lib, f"HEADWAY_DISPATCH_{how.upper()}")))


def memory() -> int:
    """Bytes that this process's buffers take, free ones included."""
    return _lib.headway_buffer_memory()


Address = tuple[int, int]  # the process's number, the end-point's number in it


class Buffer:
    """Memory that messages are sent from; `data` until it is sent or released."""

    def __init__(self, pointer: Any, size: int) -> None:
        self._pointer = pointer
        self._data = memoryview(_ffi.buffer(pointer, size)) if size else memoryview(b"")
        self._gone = ""  # why there is no data any more

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if not self._gone:
            self.release()

    def __repr__(self) -> str:
        return f"<headway.{type(self).__name__}: {self._gone or f'{self._data.nbytes} bytes'}>"

    @property
    def data(self) -> memoryview:
        """The bytes themselves, writable. Errors: ValueError once it was sent or released."""
        self._check_held()
        return self._data

    def _check_held(self) -> None:
        if self._gone:
            raise ValueError(f"the buffer {self._gone}")

    def _give_away(self, why: str) -> None:
        """Releases `data`, unless another object such as an array still uses the view."""
        self._gone = why
        try:
            self._data.release()
        except BufferError:
            pass  # an array still refers to it; to use that array now is a bug of the program

    def release(self) -> None:
        """Releases the memory. Arrays that refer to it must not be used any more."""
        self._check_held()
        if self._pointer != _ffi.NULL:  # an empty message has none
            _check(_lib.headway_buffer_release(self._pointer))
        self._give_away("was released")

    def release_later(self) -> None:
        """Releases the memory now, or when the last send that reads it has ended."""
        self._check_held()
        _check(_lib.headway_buffer_release_later(self._pointer))
        self._give_away("was released")

    @property
    def capacity(self) -> int:
        """How many bytes it can hold."""
        self._check_held()
        return _lib.headway_buffer_capacity(self._pointer)

    @property
    def idle(self) -> bool:
        """After a send with keep=True: whether it may be written again."""
        self._check_held()
        found = _ffi.new("int*")
        _check(_lib.headway_buffer_probe(self._pointer, found))
        return bool(found[0])


class Message(Buffer):
    """A buffer that was received, with its tag and its sender's address."""

    def __init__(self, got: Any) -> None:
        super().__init__(got.data, got.bytes)
        self.tag: int = got.tag
        self.source: Address = (got.__getattribute__("from").process,
                                got.__getattribute__("from").id)


def buffer(size: int) -> Buffer:
    """A buffer of `size` bytes, to be filled and sent."""
    made = _ffi.new("void**")
    _check(_lib.headway_buffer_request(size, made))
    return Buffer(made[0], size)


def _address(of: EndPoint | Address) -> Any:
    if isinstance(of, EndPoint):
        return _lib.headway_endpoint_address(of._id)
    return _ffi.new("headway_address*", of)[0]


def send(to: EndPoint | Address | str, what: Buffer | Bytes, tag: int = 0,
         source: EndPoint | None = None, keep: bool = False, limit: float | None = None) -> None:
    """Sends a Buffer (which is given away unless `keep`), or copies any object with bytes.

    `to` is an address, an EndPoint or a name; `limit` is in seconds, None waits for ever.
    Errors: TimedOut after the limit, Gone if the end-point is closed.
    """
    if isinstance(to, str):
        to = lookup(to, limit)
    origin = source._id if source is not None else 0
    if isinstance(what, Buffer):
        call = _lib.headway_endpoint_send_kept if keep else _lib.headway_endpoint_send
        size = what.data.nbytes
        _check(call(origin, _address(to), tag, what._pointer, size, _limit(limit)))
        if not keep:
            what._give_away("was sent away")
        return
    view = memoryview(what).cast("B")
    data = _ffi.from_buffer(view)
    _check(_lib.headway_endpoint_send_copy(origin, _address(to), tag, data, view.nbytes,
                                           _limit(limit)))


def lookup(name: str, limit: float | None = None) -> Address:
    """The address of a name. Waits until the name is opened. Errors: TimedOut."""
    found = _ffi.new("headway_address*")
    _check(_lib.headway_endpoint_lookup(name.encode(), _limit(limit), found))
    return found.process, found.id


_handlers: dict[int, Callable[[Message], object]] = {}  # by the number of their end-point


# One callback for all handlers, never freed: a call may still run when a handler is removed.
@_ffi.callback("void(void*, const headway_message*)")
def _on_message(which: Any, what: Any) -> None:
    message = Message(what)
    function = _handlers.get(int(_ffi.cast("uintptr_t", which)))
    if function is not None:
        function(message)
    else:
        message.release()


class EndPoint:
    """An end-point of this process; closed at the end of `with`, or by close()."""

    def __init__(self, name: str | None = None) -> None:
        made = _ffi.new("headway_endpoint*")
        _check(_lib.headway_endpoint_open(name.encode() if name else _ffi.NULL, made))
        self._id = made[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    @property
    def address(self) -> Address:
        """What others send to; may be sent in messages."""
        own = _lib.headway_endpoint_address(self._id)
        return own.process, own.id

    def close(self) -> None:
        """Withdraws the name; sends to it fail from now on."""
        _check(_lib.headway_endpoint_close(self._id))
        _handlers.pop(self._id, None)

    def handle(self, function: Callable[[Message], object] | None) -> None:
        """Calls `function(message)` for each message, one at a time, in a thread that dispatches.
        The function releases the message. None: messages wait for receives again.
        """
        if function is None:
            _check(_lib.headway_endpoint_handle(self._id, _ffi.NULL, _ffi.NULL))
            return
        _leave_before_python()
        _handlers[self._id] = function
        _check(_lib.headway_endpoint_handle(self._id, _on_message, _ffi.cast("void*", self._id)))

    def fileno(self) -> int:
        """A descriptor for select and asyncio, readable while a message waits."""
        found = _ffi.new("int*")
        _check(_lib.headway_endpoint_descriptor(self._id, found))
        return found[0]

    def send(self, to: EndPoint | Address | str, what: Buffer | Bytes, tag: int = 0,
             keep: bool = False, limit: float | None = None) -> None:
        """headway.send with this end-point as the source."""
        send(to, what, tag, self, keep, limit)

    def receive(self, tag: int | None = None, source: Address | None = None,
                limit: float | None = None) -> Message:
        """Takes the oldest message, or the oldest with this tag and from this source.
        Errors: TimedOut after `limit` seconds; None waits for ever.
        """
        got = _ffi.new("headway_message*")
        origin = _ffi.new("headway_address*", source) if source else _ffi.NULL
        _check(_lib.headway_endpoint_receive(self._id, _ANY_TAG if tag is None else tag, origin,
                                             _limit(limit), got))
        return Message(got)

    async def message(self, tag: int | None = None, source: Address | None = None) -> Message:
        """In asyncio: receive, while other coroutines run. While the end-point has a message that
        does not match, it polls instead of sleeping.
        """
        loop = asyncio.get_running_loop()
        while True:
            try:
                return self.receive(tag, source, limit=0)
            except TimedOut:
                await _readable(loop, self.fileno())


async def _readable(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    ready = loop.create_future()
    loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def open(name: str | None = None) -> EndPoint:  # noqa: A001 - headway.open is what it does
    """An end-point, under a name or only with an address."""
    return EndPoint(name)


def address(of: EndPoint) -> Address:
    """The address of an end-point."""
    return of.address


def wait_any(endpoints: Sequence[EndPoint], limit: float | None = None) -> EndPoint:
    """Waits until one of `endpoints` has a message, and returns it."""
    ids = _ffi.new("headway_endpoint[]", [e._id for e in endpoints])
    which = _ffi.new("size_t*")
    _check(_lib.headway_endpoint_wait_any(ids, len(endpoints), _limit(limit), which))
    return endpoints[which[0]]
