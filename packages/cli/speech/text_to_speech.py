"""A local voice with OpenAI's protocol: POST /v1/audio/speech, by Hibari (English). Answers 16-bit linear audio at 24 kHz."""
import json

import numpy
from hibari import Hibari
from http_server import Refusal, serve

VOICE = "heart"
MAX_CHARACTERS = 4096
MIN_SPEED, MAX_SPEED = 0.5, 2.0

# Never another voice: only this one is in the package, the others would be downloaded.
voice = Hibari(voice=VOICE, threads=1)


def answer(_headers, body):
    try:
        request = json.loads(body)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        raise Refusal(400, "The body must be a JSON object.")
    text, speed = request.get("input"), request.get("speed", 1.0)
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        raise Refusal(400, f"input must be a text of at most {MAX_CHARACTERS} characters.", "input")
    if isinstance(speed, bool) or not isinstance(speed, (int, float)):
        raise Refusal(400, "speed must be a number.", "speed")
    if request.get("voice", VOICE) != VOICE:
        raise Refusal(400, f'The only voice is "{VOICE}".', "voice")
    if request.get("response_format") != "pcm":
        raise Refusal(400, 'The only response_format is "pcm".', "response_format")
    return "audio/pcm", speech(text, min(max(speed, MIN_SPEED), MAX_SPEED))


def speech(text, speed):
    for sentence in voice.stream(text, speed=speed):
        yield (numpy.clip(sentence, -1, 1) * 32_767).astype("<i2").tobytes()


# The first inference takes longer than the others.
list(speech("Ready.", 1.0))
serve("/audio/speech", "hibari", answer)
