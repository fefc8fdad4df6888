#!/usr/bin/env python3
"""What python/headway promises; run by mpiexec on two processes, and alone."""

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


def buffers_are_numpy_arrays_without_a_copy(numpy):
    with headway.open() as at:
        made = headway.buffer(8000)
        numbers = numpy.frombuffer(made.data, dtype="f8")
        numbers[:] = 1.5
        numbers[7] = 7
        where = numbers.ctypes.data
        del numbers
        headway.send(at, made, tag=4)
        assert made.data is None
        with at.receive(tag=4, limit=5) as got:
            received = numpy.frombuffer(got.data, dtype="f8")
            assert received.ctypes.data == where and received[7] == 7 and received[8] == 1.5
            del received


def mistakes_are_exceptions():
    made = headway.buffer(10)
    pointer = made._pointer
    made.release()
    try:
        headway.Buffer(pointer, 10).release()
        raise AssertionError("released twice")
    except headway.Error as error:
        assert "released already" in str(error)
    with headway.open() as at:
        try:
            at.receive(limit=0.01)
            raise AssertionError("nothing was there")
        except headway.TimedOut:
            pass


def threads_and_select_work():
    with headway.open("python/select" + str(headway.process())) as at:
        thread = threading.Thread(target=lambda: headway.send(at, b"hello", tag=1))
        thread.start()
        readable, _, _ = select.select([at], [], [], 10)
        assert readable == [at]
        with at.receive() as got:
            assert bytes(got.data) == b"hello" and got.tag == 1
        thread.join()


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
    threads_and_select_work()
    processes_talk(numpy)


main()
