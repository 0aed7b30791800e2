#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Decodes an exported TensorBoard event file with nothing but the standard library, and compares it with
what record_write_events put into the run. If the package tensorboard is installed, asks it as well.

Usage: check_tensorboard.py RECORD_WRITE_EVENTS
"""

import math
import os
import struct
import subprocess
import sys
import tempfile

STEPS = 300
TAGS = ["loss", "hess_max_ev/Schicht ü/iterations", "grad_hist_1d"]


def crc32c(data):
    """Bit by bit, so that it shares nothing with a table."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """Yields the contents of TFRecord frames; raises on a wrong checksum or a torn frame."""
    position = 0
    while position < len(data):
        length_bytes = data[position:position + 8]
        (length,) = struct.unpack("<Q", length_bytes)
        (length_crc,) = struct.unpack_from("<I", data, position + 8)
        assert length_crc == masked(length_bytes), f"length checksum at byte {position}"
        content = data[position + 12:position + 12 + length]
        assert len(content) == length, f"torn record at byte {position}"
        (content_crc,) = struct.unpack_from("<I", data, position + 12 + length)
        assert content_crc == masked(content), f"content checksum at byte {position}"
        yield content
        position += 16 + length


def varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def fields(data):
    """Yields (number, wire type, value) of a Protocol Buffers message."""
    position = 0
    while position < len(data):
        key, position = varint(data, position)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, position = varint(data, position)
        elif wire == 1:
            (value,) = struct.unpack_from("<d", data, position)
            position += 8
        elif wire == 2:
            size, position = varint(data, position)
            value = data[position:position + size]
            assert len(value) == size, "torn field"
            position += size
        elif wire == 5:
            (value,) = struct.unpack_from("<f", data, position)
            position += 4
        else:
            raise AssertionError(f"wire type {wire}")
        yield number, wire, value


def message(data):
    """A message whose fields occur once, as {number: value}."""
    found = {}
    for number, _, value in fields(data):
        assert number not in found, f"field {number} twice"
        found[number] = value
    return found


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def check_histogram(histogram, step):
    counts = [step, 0, 2, 1]
    limits = [-0.5, 0.0, 0.5, 1.0]
    middles = [-0.75, -0.25, 0.25, 0.75]
    if step % 2:
        counts = [1] + counts + [3]
        limits = [-1.0] + limits + [sys.float_info.max]
        middles = [-1.0] + middles + [1.0]
    assert histogram[1] == -1 and histogram[2] == 1, "range"
    assert histogram[3] == sum(counts), "num"
    assert math.isclose(histogram[4], sum(c * m for c, m in zip(counts, middles))), "sum"
    assert math.isclose(histogram[5], sum(c * m * m for c, m in zip(counts, middles))), "squares"
    assert doubles(histogram[6]) == limits, "bucket_limit"
    assert doubles(histogram[7]) == counts, "bucket"


def check_step(event, step):
    assert event[1] == 1700000001.0 + 0.5 * step, "wall_time"
    assert event[2] == step, "step"
    values = [message(value) for number, _, value in fields(event[5]) if number == 1]
    assert [value[1].decode("utf-8") for value in values] == TAGS, "tags"
    loss, iterations, histogram = values
    if step == 7:
        assert math.isnan(loss[2]), "NaN"
    else:
        assert loss[2] == struct.unpack("<f", struct.pack("<f", 1 / (step + 1)))[0], "loss"
    assert iterations[2] == step, "iterations"
    check_histogram(message(histogram[5]), step)


def check_by_hand(path):
    with open(path, "rb") as file:
        events = [message(content) for content in records(file.read())]
    assert events[0] == {1: 1700000000.5, 3: b"brain.Event:2"}, "first event"
    assert len(events) == STEPS + 1, "number of events"
    for step, event in enumerate(events[1:]):
        check_step(event, step)


def check_by_tensorboard(folder):
    """Returns False if the package is not there."""
    try:
        from tensorboard.backend.event_processing import event_accumulator
    except ImportError:
        return False
    accumulator = event_accumulator.EventAccumulator(
        folder, size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
    accumulator.Reload()
    scalars = accumulator.Scalars("loss")
    assert [event.step for event in scalars] == list(range(STEPS)), "scalars"
    histograms = accumulator.Histograms("grad_hist_1d")
    assert [event.histogram_value.num for event in histograms] == [
        step + 3 + 4 * (step % 2) for step in range(STEPS)], "histograms"
    return True


def main(arguments):
    assert crc32c(b"123456789") == 0xE3069283
    with tempfile.TemporaryDirectory() as folder:
        path = subprocess.run([arguments[0], folder], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout.strip()
        assert os.path.basename(path).startswith("events.out.tfevents.1700000000.host"), path
        check_by_hand(path)
        asked = check_by_tensorboard(os.path.dirname(path))
    print(f"check_tensorboard: {STEPS} steps agree; "
          + ("TensorBoard agrees" if asked else "the package tensorboard is not installed"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
