"""An OpenAI-compatible embeddings server on the weights that the package wordllama brings: no download, no GPU.

Arguments: how many words of each text it reads (0: all). Prints the port on which it listens, on 127.0.0.1. Ends with its standard
input.
"""

import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy
import wordllama

WORDS_READ = int(sys.argv[1])
# The package looks for the tokeniser that it ships in a cache only.
MODEL = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
# The tokeniser is shared by the threads of all connections.
TURN = threading.Lock()


def vectors_of(texts):
    if WORDS_READ > 0:
        texts = [" ".join(text.split()[:WORDS_READ]) for text in texts]
    with TURN:
        return numpy.asarray(MODEL.embed(texts, norm=True), dtype="<f4")


class Embeddings(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two writes.
    disable_nagle_algorithm = True

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = request["input"]
        data = [
            {"object": "embedding", "index": index, "embedding": base64.b64encode(vector.tobytes()).decode()}
            for index, vector in enumerate(vectors_of([texts] if isinstance(texts, str) else texts))
        ]
        body = json.dumps({"object": "list", "model": request["model"], "data": data}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
os._exit(0)
