"""A whole service in Python 3.8 or later. Call your agent in think():

    SERVICE_KEY=0123456789abcdef PORT=8000 python3 service.py
"""

import hmac, json, os, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEPT = 10 * 60  # how long the events of a run are kept after its end, in seconds
MAX_THREADS = 10_000  # after that, the oldest thread is forgotten
MAX_MESSAGES = 100  # of a thread

threads = {}  # by their ids


def think(messages, tell):
    """Your agent. It gets the messages of the thread, of which the last one is the
    new prompt. It reports its progress, and returns the reply or raises."""
    prompts = [m["content"] for m in messages if m["role"] == "user"]
    for word in prompts[-1].split():
        tell("read", word)
        time.sleep(0.5)
    return "You said: " + ", ".join(prompts)


class Thread:
    def __init__(self):
        self.messages = []
        self.runs = {}

    def remember(self, role, content):
        self.messages.append({"role": role, "content": content})
        del self.messages[:-MAX_MESSAGES]

    def start(self, prompt):
        """Runs the agent in the background, whoever is connected."""
        run_id, run = str(uuid.uuid4()), Run()
        self.runs[run_id] = run
        self.remember("user", prompt)

        def work():
            run.execute(self)
            time.sleep(KEPT)
            del self.runs[run_id]

        threading.Thread(target=work, daemon=True).start()
        return run_id


class Run:
    def __init__(self):
        self.events = []
        self.is_over = False
        self.changed = threading.Condition()

    def send(self, is_last=False, **event):
        with self.changed:
            self.events.append(json.dumps(event))
            self.is_over = is_last
            self.changed.notify_all()

    def execute(self, thread):
        def tell(node, status):
            self.send(event="progress", node=node, status=status)

        try:
            reply = think(list(thread.messages), tell)
            thread.remember("assistant", reply)
            state = {"explanation": reply}
            self.send(event="complete", instructorState=state, is_last=True)
        except Exception as error:
            self.send(event="error", message=str(error), is_last=True)

    def position(self, last_id):
        """The number of events that a client has: an unknown id counts as none."""
        position = int(last_id) if last_id.isdecimal() and last_id.isascii() else 0
        return position if position <= len(self.events) else 0

    def follow(self, position):
        while True:
            with self.changed:
                if position >= len(self.events) and not self.is_over:
                    self.changed.wait(15)
                events, is_over = self.events[position:], self.is_over
            if not events and not is_over:
                yield ": working\n\n"
            for event in events:
                position += 1
                yield f"id: {position}\ndata: {event}\n\n"
            if is_over:
                return


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, message):
        self.answer(status, {"message": message})

    def has_key(self):
        key = self.headers.get("X-API-Key", "")
        return hmac.compare_digest(key.encode(), os.environ["SERVICE_KEY"].encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.has_key():
            return self.refuse(401, "Unknown key")
        path = self.path.split("/")[1:]
        if path == ["threads"]:
            thread_id = str(uuid.uuid4())
            threads[thread_id] = Thread()
            if len(threads) > MAX_THREADS:
                del threads[next(iter(threads))]
            return self.answer(201, {"thread_id": thread_id})
        if len(path) != 3 or (path[0], path[2]) != ("threads", "runs"):
            return self.refuse(404, "No such path")
        thread = threads.get(path[1])
        if thread is None:
            return self.refuse(404, "No such thread")
        try:
            prompt = json.loads(body)["prompt"]
        except (ValueError, TypeError, KeyError):
            prompt = None
        if not isinstance(prompt, str):
            return self.refuse(400, "No prompt")
        self.answer(201, {"run_id": thread.start(prompt)})

    def do_GET(self):
        if not self.has_key():
            return self.refuse(401, "Unknown key")
        path = self.path.split("/")[1:]
        if len(path) != 5 or path[::2] != ["threads", "runs", "stream"]:
            return self.refuse(404, "No such path")
        thread = threads.get(path[1])
        run = thread and thread.runs.get(path[3])
        if run is None:
            return self.refuse(404, "No such run")
        position = run.position(self.headers.get("Last-Event-ID", ""))
        if run.is_over and position == len(run.events):
            self.send_response(204)  # There is nothing more.
            return self.end_headers()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("X-Accel-Buffering", "no")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for part in run.follow(position):
                self.wfile.write(part.encode())
        except ConnectionError:
            pass  # The client has gone. The run continues.


if __name__ == "__main__":
    address = "127.0.0.1", int(os.environ["PORT"])
    ThreadingHTTPServer(address, Handler).serve_forever()
