#!/usr/bin/env python3
"""A worker that speaks nothing but the bus: NATS' text protocol over a socket, in Python's standard library.

    pawl serve --policy policies/ --bus nats://localhost:4222
    python3 examples/bus-worker.py nats://localhost:4222 job.chat.simple
    python3 examples/bus-worker.py nats://localhost:4222 code --topics job.code.llm,job.code.lint --can gpu

The second word is the pool it works in; unless told otherwise it takes the topic of that name. One job at a time. A dispatch is
begun when pawl has said so; what it comes to is published with its fence.
"""

import argparse
import collections
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("url")
parser.add_argument("pool")
parser.add_argument("--topics", help="whose jobs it takes, with commas between them")
parser.add_argument("--can", help="what it can do, with commas between it")
ARGS = parser.parse_args()
URL = urllib.parse.urlsplit(ARGS.url)
TENANT = os.environ.get("PAWL_TENANT", "default")
WORKER = f"python-{socket.gethostname()}-{os.getpid()}"
BEAT_S = 2.0
# What it tells of itself with each heartbeat.
SELF = {"worker_id": WORKER, "pool": ARGS.pool}
if ARGS.topics:
    SELF["topics"] = ARGS.topics.split(",")
if ARGS.can:
    SELF["capabilities"] = ARGS.can.split(",")
# A name as it stands in a subject: whatever else is in it as `=` and hexadecimal digits.
BASE = "pawl." + re.sub(rb"[^A-Za-z0-9_-]", lambda m: b"=%02X" % m[0][0], TENANT.encode()).decode()


def handle(request):
    """The work itself. A real one would fetch context_ptr, and put its result where result_ptr says."""
    time.sleep(float(request.get("env", {}).get("seconds", 0)))
    if "fail" in request.get("env", {}):
        raise ValueError(request["env"]["fail"])
    return f"memory://{request['job_id']}"


class Bus:
    """A connection to NATS: publish, and ask for an answer."""

    def __init__(self):
        self.asked = 0
        self.connect()

    def connect(self):
        self.socket = socket.create_connection((URL.hostname, URL.port or 4222), timeout=10)
        self.buffer = b""
        self.line()  # INFO
        login = {"user": URL.username, "pass": URL.password} if URL.username else {}
        self.send(f"CONNECT {json.dumps({'verbose': False, 'headers': True, 'no_responders': True, **login})}")
        self.inbox = f"_INBOX.{os.urandom(8).hex()}"

    def send(self, line, payload=None):
        data = line.encode() + b"\r\n"
        self.socket.sendall(data if payload is None else data + payload + b"\r\n")

    def publish(self, subject, message, reply=""):
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send(f"PUB {subject} {reply + ' ' if reply else ''}{len(payload)}", payload)

    def ask(self, subject, message, seconds):
        """The answer and its reply subject; None where none came in time, or nobody listens."""
        self.asked += 1
        inbox = f"{self.inbox}.{self.asked}"
        # A dispatch comes under its own subject: an answer is known by the number of what was subscribed to for it.
        self.send(f"SUB {inbox} {self.asked}")
        self.send(f"UNSUB {self.asked} 1")
        self.publish(subject, message, inbox)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            # Silent in the middle of a message, it is begun anew with another connection.
            if not self.waiting(left):
                break
            answer = self.receive()
            if answer and answer[0] == str(self.asked):
                return answer[1:]
        return None

    def waiting(self, seconds):
        """Whether something has come, within so many seconds."""
        return self.buffer != b"" or select.select([self.socket], [], [], seconds)[0] != []

    def take(self, is_whole):
        """Bytes from the front of what has come, as many as `is_whole` wants of it; more is read until it knows."""
        while (size := is_whole(self.buffer)) < 0 or size > len(self.buffer):
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("NATS is gone")
            self.buffer += more
        taken, self.buffer = self.buffer[:size], self.buffer[size:]
        return taken

    def line(self):
        return self.take(lambda some: some.find(b"\r\n") + 2 if b"\r\n" in some else -1)

    def receive(self):
        line = self.line()
        words = line.decode().split()
        if words[0] == "PING":
            self.send("PONG")
        elif words[0] == "-ERR":
            raise ConnectionError(line.decode().strip())
        elif words[0] in ("MSG", "HMSG"):
            data = self.take(lambda _: int(words[-1]) + 2)[:-2]
            skipped = int(words[-2]) if words[0] == "HMSG" else 0
            reply = words[3] if len(words) == (6 if words[0] == "HMSG" else 5) else ""
            # A message of headers alone is a status: nothing to do, or nobody there.
            return words[2], reply, data[skipped:] or None
        return None


def call(bus, what, message):
    """Asked again until it is answered, over another connection where this one is gone: asked twice it is answered as it was."""
    while True:
        try:
            answer = bus.ask(f"{BASE}.{what}", message, 5)
            told = json.loads(answer[1]) if answer and answer[1] else {"error": "nobody there"}
            if "error" not in told:
                return told
            time.sleep(0.2)
        except OSError as error:
            print(f"again: {error}", file=sys.stderr, flush=True)
            time.sleep(0.5)
            again(bus)


def again(bus):
    try:
        bus.connect()
    except OSError:
        pass  # Asked next, it is found out.


def run(bus, dispatch, own):
    """The JobResult; None where the job is ours no longer. Heartbeats keep its lease meanwhile."""
    since = time.monotonic()
    result = {}

    def attempt():
        try:
            result.update(status="SUCCEEDED", result_ptr=handle(dispatch["JobRequest"]))
        except Exception as error:
            result.update(status="FAILED", error_code=type(error).__name__, error_message=str(error)[:2000])

    handler = threading.Thread(target=attempt, daemon=True)
    handler.start()
    job = {"job_id": own["job_id"], "fence": own["fence"]}
    while handler.join(min(BEAT_S, dispatch["heartbeat_ms"] / 2000)) or handler.is_alive():
        told = call(bus, "heartbeat", {**SELF, "free": 0, "jobs": [job]})
        if not told["jobs"][0]["ok"] or "cancel" in told["jobs"][0]:
            return None
    return {**result, "execution_ms": int((time.monotonic() - since) * 1000)}


# What it was let begin, the last of it. A dispatch whose confirmation was lost comes again, and is not done again.
BEGUN = collections.deque(maxlen=1000)


def work(bus):
    while True:
        place = call(bus, "heartbeat", {**SELF, "free": 1})
        if not place["ok"]:
            raise SystemExit(f"{place['code']}: {place['message']} {place['next']}")
        # Where the dispatches are that it may take: those of its pool who can do the same take from there, too.
        found = bus.ask(place["take"], {"batch": 1, "expires": int(BEAT_S * 1e9)}, BEAT_S + 1)
        if not found or not found[1]:
            time.sleep(0.05)
            continue
        reply, text = found
        dispatch = json.loads(text)
        own = {"job_id": dispatch["job_id"], "fence": dispatch["fence"], "worker_id": WORKER}
        started = (own["job_id"], own["fence"]) not in BEGUN and call(bus, "start", own)["ok"]
        bus.publish(reply, b"+ACK")
        if not started:
            continue
        BEGUN.append((own["job_id"], own["fence"]))
        result = run(bus, dispatch, own)
        if result is None:
            print(dispatch["job_id"], "is another's", flush=True)
            continue
        # Answered by JetStream: it has the result, and pawl will.
        call(bus, "result", {**own, **result})
        print(dispatch["job_id"], result["status"], flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        try:
            work(Bus())
        except OSError as error:
            print(f"again: {error}", file=sys.stderr, flush=True)
            time.sleep(0.5)


if __name__ == "__main__":
    main()
