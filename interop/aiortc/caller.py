# A web caller of aiortc: one call by the WHIP-shaped API (POST, DELETE), Opus and a data channel, on the loopback interface alone.
#   URL, TOKEN: of the web run      WAV_OUT: what it hears, 16 kHz mono, written when it ends
# Standard input: "say PATH" (WAV, mono, 16 bit), "send JSON" (on the data channel), "delete", "end"; its end is "end".
# Prints one line for each event: "answer 201", "sdp LINE" of the answer, "state connected", "channel open", "message JSON", "heard SAMPLES".
# Exit: 0 = it was connected, 1 = it was not.
import asyncio
import fractions
import os
import sys
import time
import urllib.error
import urllib.request
import wave

import aioice.ice
import av
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

URL, TOKEN, WAV_OUT = os.environ["URL"], os.environ["TOKEN"], os.environ["WAV_OUT"]
RATE = 48000
FRAME = RATE // 50
HEARD_RATE = 16000

# aioice leaves the loopback interface out.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]


def say(text):
    print(text, flush=True)


class Microphone(MediaStreamTrack):
    """Silence, and the files that are said, at the pace of the clock."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.started_at = None
        self.sent = 0
        self.speech = bytearray()

    def play(self, path):
        with wave.open(path) as file:
            frame = av.AudioFrame(format="s16", layout="mono", samples=file.getnframes())
            frame.sample_rate = file.getframerate()
            frame.planes[0].update(file.readframes(file.getnframes()))
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        for part in resampler.resample(frame) + resampler.resample(None):
            self.speech += bytes(part.planes[0])[: 2 * part.samples]

    async def recv(self):
        if self.started_at is None:
            self.started_at = time.monotonic()
        await asyncio.sleep(max(0, self.started_at + self.sent / RATE - time.monotonic()))
        frame = av.AudioFrame(format="s16", layout="mono", samples=FRAME)
        frame.planes[0].update(bytes(self.speech[: 2 * FRAME]).ljust(2 * FRAME, b"\0"))
        del self.speech[: 2 * FRAME]
        frame.pts = self.sent
        frame.sample_rate = RATE
        frame.time_base = fractions.Fraction(1, RATE)
        self.sent += FRAME
        return frame


def request(method, body=None):
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/sdp"}
    try:
        with urllib.request.urlopen(urllib.request.Request(URL, body, headers, method=method)) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def listen(track, heard):
    resampler = av.AudioResampler(format="s16", layout="mono", rate=HEARD_RATE)
    try:
        while True:
            for part in resampler.resample(await track.recv()):
                heard += bytes(part.planes[0])[: 2 * part.samples]
    except MediaStreamError:
        return


async def call():
    heard = bytearray()
    connected = False
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    microphone = Microphone()
    connection.addTrack(microphone)
    channel = connection.createDataChannel("parley")
    listening = []

    @connection.on("connectionstatechange")
    def on_state():
        nonlocal connected
        connected = connected or connection.connectionState == "connected"
        say(f"state {connection.connectionState}")

    @connection.on("track")
    def on_track(track):
        listening.append(asyncio.ensure_future(listen(track, heard)))

    channel.on("open", lambda: say("channel open"))
    channel.on("message", lambda message: say(f"message {message}"))

    await connection.setLocalDescription(await connection.createOffer())
    status, body = await asyncio.to_thread(request, "POST", connection.localDescription.sdp.encode())
    say(f"answer {status}")
    if status == 201:
        for line in body.splitlines():
            say(f"sdp {line}")
        await connection.setRemoteDescription(RTCSessionDescription(body, "answer"))
        while True:
            command, _, argument = (await asyncio.to_thread(sys.stdin.readline)).strip().partition(" ")
            if command in ("", "end"):
                break
            if command == "say":
                microphone.play(argument)
            if command == "send":
                channel.send(argument)
            if command == "delete":
                say(f"deleted {(await asyncio.to_thread(request, 'DELETE'))[0]}")
    await connection.close()
    await asyncio.gather(*listening)
    with wave.open(WAV_OUT, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(HEARD_RATE)
        file.writeframes(bytes(heard))
    say(f"heard {len(heard) // 2}")
    return connected


sys.exit(0 if asyncio.run(call()) else 1)
