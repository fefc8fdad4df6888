#!/usr/bin/env python3
"""What python/headway promises; run by mpiexec on two processes, and alone."""

import asyncio
import inspect
import select
import sys
import threading

import headway


def numpy_or_skip():
    try:
        import numpy
    except ImportError:
        print("skipped: numpy is not installed", file=sys.stderr)
        sys.exit(77)
    return numpy


def says(kind, text, call):
    """The call raises an exception of this kind, with the text in it."""
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no {kind.__name__}: {text}")


def buffers_are_numpy_arrays_without_a_copy(numpy):
    with headway.open() as at:
        made = headway.buffer(8000)
        numbers = numpy.frombuffer(made.data, dtype="f8")
        numbers[:] = 1.5
        numbers[7] = 7
        where = numbers.ctypes.data
        del numbers
        headway.send(at, made, tag=4)
        says(ValueError, "the buffer was sent away", lambda: made.data)
        with at.receive(tag=4, limit=5) as got:
            received = numpy.frombuffer(got.data, dtype="f8")
            assert received.ctypes.data == where and received[7] == 7 and received[8] == 1.5
            del received


def mistakes_are_exceptions():
    made = headway.buffer(10)
    pointer = made._pointer
    made.release()
    says(ValueError, "the buffer was released", lambda: made.data)
    says(ValueError, "the buffer was released", made.release)
    assert "was released" in repr(made)
    says(headway.Error, "released already", headway.Buffer(pointer, 10).release)
    with headway.open() as at:
        # Not the text of the failure before it.
        says(headway.TimedOut, "the limit of time passed", lambda: at.receive(limit=0.01))
        says(TimeoutError, "it would have to wait", lambda: at.receive(limit=0))


def functions_have_the_signatures_that_they_take():
    assert str(inspect.signature(headway.EndPoint.send)).startswith(
        "(self, to: 'EndPoint | Address | str', what: 'Buffer | Bytes', tag: 'int' = 0,")
    for name in headway.__all__:
        assert getattr(headway, name).__doc__ or name == "AGAIN", name


def a_kept_buffer_is_idle_when_its_receivers_have_released_it():
    with headway.open() as at:
        made = headway.buffer(5000)
        made.data[:5] = b"again"
        for _ in range(2):
            headway.send(at, made, keep=True)
            with at.receive(limit=5) as got:
                assert bytes(got.data[:5]) == b"again" and not made.idle
            assert made.idle
        assert made.capacity >= 5000 and headway.memory() >= made.capacity
        made.release_later()
        says(ValueError, "the buffer was released", lambda: made.data)


def an_empty_message_is_released_as_any_other():
    with headway.open() as at:
        headway.send(at, b"", tag=5)
        got = at.receive(limit=5)
        assert got.tag == 5 and len(got.data) == 0
        got.release()


def one_waits_for_many_and_is_told_of_a_closed_one():
    first, second = headway.open(), headway.open()
    headway.send(second, b"x")
    assert headway.wait_any([first, second], limit=5) is second
    second.receive().release()
    second.close()
    says(headway.Gone, "closed", lambda: headway.send(second, b"x"))
    says(ConnectionError, "closed", lambda: headway.send(second, b"x"))
    first.close()


def a_handler_gets_every_message_under_every_policy():
    with headway.open() as server, headway.open() as client:
        def double(question):
            with question:
                server.send(question.source, bytes(question.data) * 2, tag=question.tag, limit=0)

        server.handle(double)
        for how in ("pause", "yield", "event", "auto"):
            headway.dispatch_policy(how)
            for number in range(20):
                client.send(server, str(number).encode(), tag=number)
                with client.receive(tag=number, limit=20) as answer:
                    assert bytes(answer.data) == str(number).encode() * 2
        server.handle(None)
        client.send(server, b"to be received", tag=99)
        server.receive(tag=99, limit=5).release()


def handlers_may_be_at_work_when_the_program_ends():
    at = headway.open()
    at.handle(lambda message: message.release())
    for _ in range(100):
        headway.send(at, b"one more")


def threads_and_select_work():
    with headway.open("python/select" + str(headway.process())) as at:
        thread = threading.Thread(target=lambda: headway.send(at, b"hello", tag=1))
        thread.start()
        readable, _, _ = select.select([at], [], [], 10)
        assert readable == [at]
        with at.receive() as got:
            assert bytes(got.data) == b"hello" and got.tag == 1
        thread.join()


def a_coroutine_awaits_a_message_while_another_one_sends():
    async def ask_and_answer():
        with headway.open() as at:
            async def send_later():
                await asyncio.sleep(0.02)
                headway.send(at, b"not this", tag=1)
                headway.send(at, b"this one", tag=2)

            sending = asyncio.create_task(send_later())
            with await asyncio.wait_for(at.message(tag=1), 10) as other:
                assert bytes(other.data) == b"not this"
            with await asyncio.wait_for(at.message(), 10) as got:
                assert bytes(got.data) == b"this one" and got.tag == 2
            await sending

    asyncio.run(ask_and_answer())


def processes_talk(numpy):
    me, n = headway.process(), headway.count()
    with headway.open(f"python/{me}") as at:
        made = headway.buffer(800_000)
        numpy.frombuffer(made.data, dtype="i4")[:] = me
        at.send(f"python/{(me + 1) % n}", made, tag=2)
        with at.receive(tag=2, limit=30) as got:
            numbers = numpy.frombuffer(got.data, dtype="i4")
            assert len(numbers) == 200_000 and (numbers == (me + n - 1) % n).all()
            del numbers
        for p in range(n):
            at.send(f"python/{p}", b"", tag=3)
        for _ in range(n):
            at.receive(tag=3, limit=30)


def main():
    numpy = numpy_or_skip()
    buffers_are_numpy_arrays_without_a_copy(numpy)
    mistakes_are_exceptions()
    functions_have_the_signatures_that_they_take()
    a_kept_buffer_is_idle_when_its_receivers_have_released_it()
    an_empty_message_is_released_as_any_other()
    one_waits_for_many_and_is_told_of_a_closed_one()
    a_handler_gets_every_message_under_every_policy()
    threads_and_select_work()
    a_coroutine_awaits_a_message_while_another_one_sends()
    processes_talk(numpy)
    handlers_may_be_at_work_when_the_program_ends()


main()
