"""Receives Lombard's webhooks and verifies their signature with nothing but Python's own library (3.8 or newer).

    WEBHOOK_URL=https://hooks.example.com/lombard WEBHOOK_SECRET=... PORT=9000 python3 receiver.py

WEBHOOK_URL is the URL exactly as the subscription has it: the signature covers it. BRAND is the word in the
X-<Brand>-... headers (LOMBARD_BRAND), by default Service.
"""

import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL = os.environ["WEBHOOK_URL"].encode()
SECRET = os.environ.get("WEBHOOK_SECRET", "").encode()
BRAND = os.environ.get("BRAND", "Service")

# A notification can come more than once. Keep this where it survives a restart, in the transaction that acts on the notification.
seen = set()


def signature_is_right(header: str, body: bytes) -> bool:
    expected = "sha3-256=" + hmac.new(SECRET, URL + body, hashlib.sha3_256).hexdigest()
    return hmac.compare_digest(expected.encode(), header.encode())


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not signature_is_right(self.headers.get(f"X-{BRAND}-Signature", ""), body):
            self.answer(401)
            return
        notification = self.headers[f"X-{BRAND}-Notification-Id"]
        if notification not in seen:
            seen.add(notification)
            kind = self.headers[f"X-{BRAND}-Webhook"]
            attempt = self.headers[f"X-{BRAND}-Attempt-Number"]
            print(f"{kind} {notification} attempt {attempt}: {json.dumps(json.loads(body))}", flush=True)
        # Any 2xx within 10 seconds is a success. Answer first, do long work afterwards.
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
