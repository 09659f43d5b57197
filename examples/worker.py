#!/usr/bin/env python3
"""A pawl worker in plain Python: the standard library and nothing else.

    export PAWL_URL=http://127.0.0.1:7295 PAWL_TOKEN=pawl_...   # a worker's token will do
    python3 examples/worker.py text                             # the queues to serve
    pawl enqueue text.count --queue text -p text='to be or not to be' --wait

Whatever is said about a job carries the fence of its lease: a worker that lost the lease is refused, whatever it
believes. A request that got no answer is sent again with the same requestId, which makes the repetition harmless.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

URL = os.environ.get("PAWL_URL", "http://127.0.0.1:7295")
TOKEN = os.environ.get("PAWL_TOKEN", "")
QUEUES = sys.argv[1:] or ["default"]
WORKER = f"python-{socket.gethostname()}-{os.getpid()}"
POLL_MS = 20_000
TRIES = 6

stopping = threading.Event()
running = threading.Event()


def stop(*_):
    """What runs may finish; who waits for work goes at once."""
    stopping.set()
    if not running.is_set():
        sys.exit(0)


class Refused(Exception):
    """The gateway answered, and said no. `problem` says why, who owns the job and what to do."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail", "refused"))
        self.status = status
        self.problem = problem


class Cancelled(Exception):
    """Somebody wants the job to stop, or it is ours no longer."""


class Permanent(Exception):
    """It would fail again: no retry."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def call(method, path, body=None, timeout=30):
    """One request, repeated while the gateway cannot be reached or has too much to do."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    for attempt in range(TRIES):
        pause = 0.2 * 2**attempt
        try:
            request = urllib.request.Request(URL + path, data=data, headers=headers, method=method)
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            problem = json.loads(error.read() or b"{}")
            if error.code not in (408, 429, 502, 503, 504):
                raise Refused(error.code, problem) from None
            pause = float(error.headers.get("Retry-After", pause))
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            pass
        time.sleep(min(pause, 5))
    raise ConnectionError(f"{URL} does not answer")


class Lease:
    """A job that is ours: kept by heartbeats from a thread of its own until we have said how it ended."""

    def __init__(self, assignment):
        self.job = assignment["job"]
        self.id = self.job["id"]
        self.fence = assignment["fence"]
        self.every = self.job["policy"]["heartbeatMs"] / 1000
        self.input = assignment.get("input")
        if assignment.get("inputLater"):
            self.input = call("GET", f"/v1/jobs/{self.id}").get("input")
        self.interrupted = threading.Event()
        self.ended = threading.Event()
        self.keeper = threading.Thread(target=self._keep, daemon=True)

    def say(self, word, **words):
        body = {"fence": self.fence, "requestId": str(uuid.uuid4()), **words}
        answer = call("POST", f"/v1/jobs/{self.id}/{word}", body)
        # Any answer may tell of a requested cancel.
        if answer.get("cancel"):
            self.interrupted.set()
        return answer

    def progress(self, done, total):
        self.check()
        self.say("progress", progress={"done": done, "total": total})

    def check(self):
        if self.interrupted.is_set():
            raise Cancelled()

    def _keep(self):
        while not self.ended.wait(self.every):
            try:
                self.say("heartbeat")
            except Refused:
                # Not ours any more: whatever the handler makes of it will not be accepted.
                self.interrupted.set()
                return
            except ConnectionError:
                continue


def count(lease):
    text = (lease.input or {}).get("text")
    if not isinstance(text, str):
        raise Permanent("validation_failed", "text must be a string")
    return {"words": len(text.split()), "letters": sum(map(str.isalpha, text))}


def count_slowly(lease):
    seconds = int((lease.input or {}).get("seconds", 10))
    for done in range(seconds):
        # Wakes at once when a heartbeat brings the news of a cancel.
        lease.interrupted.wait(1)
        lease.progress(done + 1, seconds)
    return {"seconds": seconds}


def fail(lease):
    raise RuntimeError("this one never works")


HANDLERS = {"text.count": count, "text.slow": count_slowly, "text.fail": fail}
TYPES = list(HANDLERS)


def run(assignment):
    lease = Lease(assignment)
    handler = HANDLERS.get(lease.job["type"])
    try:
        if handler is None:
            # From now on the job is for who serves its type.
            lease.say("release", reason="unknown_type")
            return
        began = time.monotonic()
        lease.say("start")
        lease.keeper.start()
        try:
            result = handler(lease)
            lease.check()
            took = int((time.monotonic() - began) * 1000)
            answer = lease.say("complete", result=result, executionMs=took)
        except Cancelled:
            # Handing a job back whose cancel was requested ends it as cancelled.
            answer = lease.say("release", reason="handed_back")
        except Permanent as error:
            answer = lease.say("fail", code=error.code, message=str(error))
        except Refused:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a handler throws is the job's failure, not the worker's
            answer = lease.say("fail", code="python_error", message=f"{type(error).__name__}: {error}")
        print(f"{lease.id} {lease.job['type']} {answer['state']}", flush=True)
    except Refused as refused:
        print(f"{lease.id} {refused.problem.get('code')}: {refused}", file=sys.stderr, flush=True)
    finally:
        lease.ended.set()


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    told = 0.0
    while not stopping.is_set():
        if told == 0 or time.monotonic() - told > 30:
            call("PUT", f"/v1/workers/{WORKER}", {"queues": QUEUES, "types": TYPES, "concurrency": 1, "pid": os.getpid()})
            told = time.monotonic()
        body = {"workerId": WORKER, "queues": QUEUES, "serves": TYPES, "limit": 1, "waitMs": POLL_MS, "requestId": str(uuid.uuid4())}
        for assignment in call("POST", "/v1/claims", body, timeout=POLL_MS / 1000 + 15)["jobs"]:
            running.set()
            run(assignment)
            running.clear()


if __name__ == "__main__":
    main()
