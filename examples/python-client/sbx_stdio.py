#!/usr/bin/env python3
"""A client of stdio.v1 in Python, with the standard library alone.

Runs a command in a sandbox, or attaches to a session, as if it ran here: stdin, stdout, stderr and
the exit code are its own, whatever happens to the connection. It was written from PROTOCOL.md
alone, and the letters and numbers in comments are the rules there.

  SBX_TOKEN=… python3 sbx_stdio.py 'http://localhost:8787/attach?sandbox=dev' -- sh -c 'cat; exit 7'

It leaves out what only a terminal emulator needs: answers to queries (K5) and the panes (B).
"""

import argparse
import base64
import json
import os
import random
import secrets
import select
import signal
import socket
import ssl
import stat
import sys
import time
from collections import deque
from urllib.parse import parse_qsl, urlencode, urlsplit

KEPT_BYTES = 256 * 1024  # I3
FRAME_BYTES = 64 * 1024  # F2
ACK_BYTES, ACK_SECONDS = 65_531, 0.05  # W1
UNPROCESSED_BYTES = 1024 * 1024  # W12
PING_SECONDS, SILENT_SECONDS, GREETING_SECONDS = 15, 40, 200  # C4
RETRIED_CODES = {1000, 1001, 1005, 1006, 1011, 1012, 1013, 4429, 4503}  # R11
PIPE_BYTES = select.PIPE_BUF  # a pipe that select calls writable takes this much without blocking


class Lost(Exception):
    """The connection broke or was closed."""

    def __init__(self, reason, code=1006):
        super().__init__(reason)
        self.code = code


class Refused(Exception):
    """The session can't be continued: say why and end."""


# --- one WebSocket (RFC 6455) ---------------------------------------------------------------------

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def masked(data, key):
    pad = (key * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "little") ^ int.from_bytes(pad, "little")).to_bytes(len(data), "little")


class WebSocket:
    """One connection. After the upgrade nothing blocks: `receive` and `flush` do what is possible now."""

    def __init__(self, address, headers):
        secure = address.scheme in ("https", "wss")
        self.incoming, self.outgoing, self.fragments = bytearray(), bytearray(), None
        port = address.port or (443 if secure else 80)
        self.socket = socket.create_connection((address.hostname, port), timeout=SILENT_SECONDS)
        try:
            if secure:
                self.socket = ssl.create_default_context().wrap_socket(self.socket, server_hostname=address.hostname)
            self._upgrade(address, headers)
        except BaseException:
            self.socket.close()
            raise
        self.socket.setblocking(False)

    def _upgrade(self, address, headers):
        lines = [f"GET {address.path}?{address.query} HTTP/1.1", f"Host: {address.netloc}", "Connection: Upgrade"]
        lines += ["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: stdio.v1"]
        lines += [f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode())
        while b"\r\n\r\n" not in self.incoming:
            chunk = self.socket.recv(4096)
            if not chunk or len(self.incoming) > 65_536:
                raise Lost("no answer to the upgrade")
            self.incoming += chunk
        head, _, rest = bytes(self.incoming).partition(b"\r\n\r\n")
        self.incoming = bytearray(rest)
        status = head.split(b" ", 2)[1:2]
        if status != [b"101"]:
            # A7: our server refuses behind an accepted upgrade, so this answer is from something in between.
            error = f"the server answered HTTP {b''.join(status).decode('latin-1')}, not a WebSocket"
            raise Refused(error) if status[:1] and status[0][:1] == b"4" and status[0] != b"429" else Lost(error)
        if b"sec-websocket-protocol: stdio.v1" not in head.lower():
            raise Refused("the server does not speak stdio.v1")

    def send(self, opcode, payload):
        head, length = bytearray([0x80 | opcode]), len(payload)
        if length < 126:
            head.append(0x80 | length)
        elif length < 65_536:
            head += bytes([0x80 | 126]) + length.to_bytes(2, "big")
        else:
            head += bytes([0x80 | 127]) + length.to_bytes(8, "big")
        key = os.urandom(4)
        self.outgoing += head + key + masked(payload, key)

    def flush(self):
        try:
            while self.outgoing:
                del self.outgoing[: self.socket.send(self.outgoing[:FRAME_BYTES])]
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass

    def receive(self):
        """The messages that are here, as (opcode, payload). Pings are answered."""
        over = True
        try:
            while chunk := self.socket.recv(262_144):
                self.incoming += chunk
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            over = False
        while (frame := self._frame()) is not None:
            final, opcode, payload = frame
            if opcode == PING:
                self.send(PONG, payload)
            elif opcode >= CLOSE:
                yield opcode, payload
            else:
                first, data = self.fragments or (opcode, b"")
                self.fragments = None if final else (first, data + payload)
                if final:
                    yield first, data + payload
        if over:
            raise Lost("the server hung up")

    def _frame(self):
        data, at = self.incoming, 2
        if len(data) < 2:
            return None
        length = data[1] & 0x7F
        if length > 125:
            at += 2 if length == 126 else 8
            if len(data) < at:
                return None
            length = int.from_bytes(data[2:at], "big")
        if len(data) < at + length:
            return None
        payload, first = bytes(data[at : at + length]), data[0]
        del data[: at + length]
        return bool(first & 0x80), first & 0x0F, payload

    def close(self, code):
        """Says goodbye if the network takes it, and lets go. Without a code it only lets go."""
        if code:
            self.send(CLOSE, code.to_bytes(2, "big"))
        try:
            self.flush()
        except OSError:
            pass
        self.socket.close()


# --- the two directions ---------------------------------------------------------------------------


class Output:
    """What was received and is yet to be written, in order, with the offset that each piece ends at."""

    def __init__(self, descriptors):
        self.descriptors, self.pieces, self.waiting = descriptors, deque(), 0
        self.position = None  # the next byte of the stream; None before anything was shown
        self.jump = None  # where the stream continues with the next frame: at a start, or behind a gap
        self.processed = 0  # written up to here
        self.drawn = False  # a snapshot was finished and is not acknowledged yet (W13)

    def start(self, hello):
        self.jump = None
        if self.position is None or hello.get("gap"):
            self.jump = hello["offset"]
        elif hello["offset"] != self.position:
            raise Refused(f"output continues at {hello['offset']}, not at {self.position}")

    def frame(self, kind, payload):
        if kind not in self.descriptors:
            return  # F4
        if self.jump is not None:  # O7: only what comes behind a gap moves past it
            self.position, self.jump = self.jump, None
        snapshot = kind == 3
        if not snapshot:
            self.position += len(payload)
        self.pieces.append([self.descriptors[kind], memoryview(payload), self.position, snapshot])
        self.waiting += len(payload)

    def end(self, exit):
        reached = self.position if self.jump is None else self.jump
        if exit["offset"] != reached:
            raise Refused(f"output ends at {exit['offset']}, and {reached} is what came")

    def write(self):
        """Writes of the first piece what its reader takes without blocking."""
        descriptor, rest, end, snapshot = piece = self.pieces[0]
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        written = os.write(descriptor, rest if regular else rest[:PIPE_BYTES])
        piece[1] = rest = rest[written:]
        self.waiting -= written
        if not snapshot:
            self.processed = end - len(rest)
        if not rest:
            self.pieces.popleft()
            if snapshot:
                self.processed, self.drawn = end, True


class Input:
    """What was read and is not settled yet (I3), numbered from `start` on."""

    def __init__(self):
        self.kept, self.start, self.sent = bytearray(), 0, 0
        self.ended = False  # our stdin is at its end
        self.closed = False  # the process takes no more (stdin_closed)

    @property
    def end(self):
        return self.start + len(self.kept)

    def resume(self, offset):
        """R5: what is not settled by now is sent again."""
        self.settle(offset)
        self.sent = self.start

    def settle(self, offset):
        """I2: bytes before the offset are settled."""
        if offset > self.start:
            del self.kept[: offset - self.start]
            self.start = offset

    def refuse(self, for_good):
        """I7: refused input counts as taken, and is never sent again. What was not sent is dropped."""
        self.closed = self.closed or for_good
        self.start = self.sent
        self.kept.clear()

    def next_frame(self):
        frame = bytes(self.kept[self.sent - self.start :][:FRAME_BYTES])
        self.sent += len(frame)
        return frame


# --- the client -----------------------------------------------------------------------------------

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def new_life():
    """R10: 16 characters that begin with the time in base 36."""
    time_ms, digits = int(time.time() * 1000), ""
    for _ in range(9):
        time_ms, digit = divmod(time_ms, 36)
        digits = DIGITS[digit] + digits
    return digits + "".join(secrets.choice(DIGITS) for _ in range(7))


class Client:
    """One life of a client, over as many connections as it takes."""

    def __init__(self, url, token="", descriptors=(0, 1, 2), notice=lambda text: None):
        self.url, self.token, self.stdin, self.notice = urlsplit(url), token, descriptors[0], notice
        self.life, self.attempts, self.failures = new_life(), 0, 0
        self.query = dict_of_lists(self.url.query)
        # Without a name, a retry after a lost greeting would start a second process (A2).
        self.query.setdefault("session", [f"py-{self.life}"])
        self.output = Output({1: descriptors[1], 2: descriptors[2], 3: descriptors[1]})
        self.input = Input()
        self.socket, self.hello, self.bye, self.exit = None, None, None, None
        self.greeted, self.may_type, self.eof_said = False, False, False
        self.acknowledged, self.ack_due, self.heard = 0, None, 0
        self.signals = []
        self.wake, self.waker = os.pipe()
        self.handlers = {"hello": self.on_hello, "gap": self.on_gap, "stdin_ack": self.on_stdin_ack}
        self.handlers.update(leave=self.on_leave, stdin_holder=self.on_stdin_holder, error=self.on_error, bye=self.on_bye, exit=self.on_exit)

    def run(self):
        """Connects until the process has ended, and returns its exit code."""
        while self.exit is None:
            try:
                self.converse()
            except Lost as lost:
                self.socket = self.socket and self.socket.close(None)
                if self.exit is None:
                    self.pause(*self.after(lost))
        self.leave()
        while self.output.pieces:
            self.step(None)
        return self.exit["code"]

    def leave(self):
        """R8: the place is given up."""
        self.socket = self.socket and self.socket.close(1000)

    def pass_on(self, number, _frame=None):
        """A handler for signals: the process gets them (C6)."""
        self.signals.append(signal.Signals(number).name)

    # -- connections

    def converse(self):
        """One connection, until it is lost or the exit was told."""
        while self.output.waiting >= UNPROCESSED_BYTES:  # W12
            self.step(None)
        self.attempts += 1
        self.greeted, self.eof_said, self.bye, self.ack_due = False, False, None, None
        opened = time.monotonic()
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            self.socket = WebSocket(self.url._replace(query=self.next_query()), headers)
            ping_due, self.heard = opened, time.monotonic()
            self.hear()  # what came with the answer to the upgrade
        except OSError as error:
            raise Lost(str(error)) from error
        while self.exit is None:
            now = time.monotonic()
            if now >= ping_due:
                self.say({"type": "ping"})  # C4
                ping_due = now + PING_SECONDS
            if now - self.heard > SILENT_SECONDS or (not self.greeted and now - opened > GREETING_SECONDS):
                raise Lost("the server is silent")
            if self.greeted:
                self.speak(now)
            self.step(max(0, min(ping_due, self.ack_due or ping_due) - now))

    def next_query(self):
        query = {**self.query, "attempt": [f"{self.life}.{self.attempts}"]}
        if self.hello:
            query["session"], query["resume"] = [self.hello["session"]], [self.hello["resume"]]
            query["stdin"] = [self.input.start]  # R5a
            if self.output.position is not None:  # R1, O7: else the same client with an empty screen
                query["offset"] = [self.output.position]
        return urlencode(query, doseq=True)

    def after(self, lost):
        """R11: how long to wait before the next connection, and why. Raises if there is to be none."""
        bye, code = self.bye, lost.code
        if bye and bye["retry"] == "never" or not bye and code not in RETRIED_CODES:
            raise Refused(f"{bye['reason'] if bye else lost} ({code})")
        if bye and bye["retry"] == "now":
            return 0, bye["reason"]
        self.failures += 1
        backoff = random.uniform(0, min(15, 0.2 * 2 ** (self.failures - 1)))
        return max(backoff, bye.get("seconds", 0) if bye else 0), bye["reason"] if bye else str(lost)

    def pause(self, seconds, reason):
        self.notice(f"connection lost ({reason}): retrying in {seconds:.1f} s")
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.step(left)

    # -- one turn

    def step(self, seconds):
        """Waits until something can be read or written, or for so long, and does it."""
        reads, writes = [self.wake], []
        if self.socket:
            reads.append(self.socket.socket)
            if self.socket.outgoing:
                writes.append(self.socket.socket)
        if self.reads_input():
            reads.append(self.stdin)
        if self.output.pieces:
            writes.append(self.output.pieces[0][0])
        readable, writable, _ = select.select(reads, writes, [], seconds)
        if self.wake in readable:
            os.read(self.wake, 512)
        if self.stdin in readable:
            self.read_input()
        if self.output.pieces and self.output.pieces[0][0] in writable:
            self.output.write()
        if self.socket:
            try:
                self.socket.flush()
                if self.socket.socket in readable:
                    self.hear()
            except OSError as error:
                raise Lost(str(error)) from error

    def hear(self):
        for message in self.socket.receive():
            self.heard = time.monotonic()
            self.follow(*message)

    def reads_input(self):
        if self.input.ended or self.input.closed:
            return False
        if not self.greeted:
            return self.hello is not None and os.isatty(self.stdin)
        return self.may_type and len(self.input.kept) < KEPT_BYTES  # I3

    def read_input(self):
        data = os.read(self.stdin, min(FRAME_BYTES, KEPT_BYTES - len(self.input.kept)))
        if not data:
            self.input.ended = True
        elif self.greeted:
            self.input.kept += data
        else:
            self.notice(f"{len(data)} bytes typed while disconnected: not sent")  # I4

    def speak(self, now):
        """Says what is due: acknowledgements, signals, input and its end."""
        output = self.output
        if output.processed > self.acknowledged and self.ack_due is None:
            self.ack_due = now + ACK_SECONDS
        due = self.ack_due is not None and now >= self.ack_due
        if due or output.drawn or output.processed - self.acknowledged >= ACK_BYTES:  # W1, W13
            self.acknowledge()
        while self.signals:
            self.say({"type": "signal", "signal": self.signals.pop(0)})
        while self.input.sent < self.input.end and len(self.socket.outgoing) < FRAME_BYTES:
            self.socket.send(BINARY, self.input.next_frame())
        if self.input.ended and self.may_type and self.input.sent == self.input.end and not self.eof_said:
            self.say({"type": "eof", "offset": self.input.end})  # I9: again on each connection
            self.eof_said = True

    def acknowledge(self):
        self.say({"type": "ack", "offset": self.output.processed})
        self.acknowledged, self.ack_due, self.output.drawn = self.output.processed, None, False

    def say(self, message):
        self.socket.send(TEXT, json.dumps(message, separators=(",", ":")).encode())

    # -- what the server says

    def follow(self, opcode, payload):
        if opcode == CLOSE:
            code = int.from_bytes(payload[:2], "big") if payload else 1005
            raise Lost(payload[2:].decode(errors="replace") or f"closed with {code}", code)
        if opcode == BINARY and payload:
            self.output.frame(payload[0], payload[1:])
        elif opcode == TEXT:
            message = json.loads(payload)
            if message["type"] in self.handlers:  # F4
                self.handlers[message["type"]](message)

    def on_hello(self, hello):
        first, self.hello, self.greeted, self.failures = self.hello is None, hello, True, 0
        if first:
            self.input.start = hello["stdin"]
        self.input.resume(hello["stdin"])
        self.output.start(hello)
        if hello.get("gap"):
            self.notice(f"{hello['gap']} bytes of output before {hello['offset']} are gone")
        self.may_type = hello["you"]["role"] == "driver"
        self.on_stdin_holder({"id": hello["holder"]})
        if self.output.processed:
            self.acknowledge()  # R1

    def on_gap(self, gap):
        self.output.jump = gap["to"]
        self.notice(f"output from {gap['from']} to {gap['to']} is gone")

    def on_stdin_ack(self, ack):
        # An earlier connection's last bytes may have come late. This connection counts from `hello`: they are sent on it, too.
        self.input.settle(min(ack["offset"], self.input.sent))

    def on_stdin_holder(self, holder):
        if self.hello["mode"] == "exclusive":  # K1
            self.may_type = holder["id"] == self.hello["you"]["id"]

    def on_error(self, error):
        self.notice(f"{error['code']}: {error['message']}")
        if error["code"] == "stdin_closed":  # it may come before hello
            self.input.refuse(for_good=True)
        elif error["code"] == "not_stdin_holder" and not self.may_type:
            self.input.refuse(for_good=False)

    def on_leave(self, _):
        self.eof_said = False  # I9a: it may have been refused because of the one that has left

    def on_bye(self, bye):
        self.bye = bye

    def on_exit(self, exit):
        self.output.end(exit)
        self.exit = exit


def dict_of_lists(query):
    lists = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        lists.setdefault(name, []).append(value)
    return lists


def main():
    parser = argparse.ArgumentParser(description="Runs a command in a sandbox over stdio.v1. The token is in SBX_TOKEN.")
    parser.add_argument("url", help="…/attach?sandbox=NAME, with any other parameter of the protocol's A1")
    parser.add_argument("command", nargs="*", help="the command and its arguments, after --")
    options = parser.parse_args()

    def notice(text):
        if os.isatty(2):
            print(f"sbx_stdio.py: {text}", file=sys.stderr)

    client = Client(options.url, os.environ.get("SBX_TOKEN", ""), notice=notice)
    if options.command:
        client.query["cmd"], client.query["arg"] = options.command[:1], options.command[1:]
    os.set_blocking(client.waker, False)
    signal.set_wakeup_fd(client.waker)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, client.pass_on)
    try:
        sys.exit(client.run())
    except Refused as error:
        print(f"sbx_stdio.py: {error}", file=sys.stderr)
    except BrokenPipeError:
        client.leave()  # nobody reads our output any more
    os._exit(255)


if __name__ == "__main__":
    main()
