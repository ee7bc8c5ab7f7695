"""HTTP for the local speech servers: loopback only, bounded requests, one inference at a time.

The process ends when its standard input closes, so that it never outlives the program that started it.
It prints {"port": N} when it is ready.
"""
import argparse
import json
import os
import select
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_WAITING = 32
IDLE_SECONDS = 60


class Refusal(Exception):
    """An answer with an error status. `param` names the invalid field, as OpenAI's errors do."""

    def __init__(self, status, message, param=None):
        super().__init__(message)
        self.status, self.message, self.param = status, message, param


def serve(path, model, answer):
    """Serves POST requests whose path ends in `path`. `answer(headers, body)` returns a content type and an iterable of bytes."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--port", type=int, default=0)
    port = arguments.parse_args().port
    inference = threading.Lock()
    places = threading.Semaphore(MAX_WAITING)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = IDLE_SECONDS
        # Without it the end of each answer waits for a delayed acknowledgement.
        disable_nagle_algorithm = True

        def log_message(self, *_):
            pass

        def do_GET(self):
            self.send_json(200, {"object": "list", "data": [{"id": model, "object": "model"}]})

        def do_POST(self):
            try:
                self.reply()
            except Refusal as refusal:
                # What is left of the body is not read, so the connection cannot be used again.
                self.close_connection = True
                self.send_json(refusal.status, {"error": {"message": refusal.message, "param": refusal.param}})
            except (ConnectionError, TimeoutError):
                self.close_connection = True

        def reply(self):
            length = self.headers.get("content-length", "")
            if not length.isdecimal():
                raise Refusal(411, "The request needs a Content-Length.")
            if int(length) > MAX_BODY_BYTES:
                raise Refusal(413, f"The body is longer than {MAX_BODY_BYTES} bytes.")
            if not self.path.partition("?")[0].endswith(path):
                raise Refusal(404, f"This server answers POST {path} only.")
            if not places.acquire(blocking=False):
                raise Refusal(503, f"{MAX_WAITING} requests are waiting already.")
            try:
                body = self.rfile.read(int(length))
                with inference:
                    # The caller takes a request back when newer audio replaces it.
                    if self.is_gone():
                        return
                    content_type, chunks = answer(self.headers, body)
                self.send_chunks(content_type, iter(chunks))
            finally:
                places.release()

        def is_gone(self):
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

        def send_chunks(self, content_type, chunks):
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                # A reader that is slow holds up nobody else: the chunk is written after the lock is free again.
                with inference:
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                if chunk:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n")

        def send_json(self, status, value):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=end_with_parent, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)
