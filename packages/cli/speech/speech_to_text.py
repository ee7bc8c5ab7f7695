"""A local recogniser with OpenAI's protocol: POST /v1/audio/transcriptions, by Moonshine tiny (English)."""
import io
import json
import wave
from email.message import Message
from pathlib import Path

import moonshine_voice
import numpy
from http_server import Refusal, serve
from moonshine_voice import ModelArch, Transcriber

MAX_SECONDS = 60
SAMPLE_RATE_HZ = 16_000
# A phrase comes without its surroundings, but a model that was trained on recordings needs some silence around it.
PADDING_SECONDS = 0.2

weights = Path(moonshine_voice.__file__).parent / "assets" / "tiny-en"
# Phrases are cut by the caller: a second voice detection would only lose short words.
transcriber = Transcriber(str(weights), ModelArch.TINY, options={"vad_threshold": "0"})


def answer(headers, body):
    samples = samples_of(field("file", headers, body))
    text = transcribe(samples) if len(samples) > 0 else ""
    seconds = len(samples) / SAMPLE_RATE_HZ
    return "application/json", [
        json.dumps({"task": "transcribe", "language": "english", "duration": seconds, "text": text}).encode()
    ]


def field(name, headers, body):
    """The content of one part of a multipart body."""
    message = Message()
    message["content-type"] = headers.get("content-type", "")
    boundary = message.get_param("boundary")
    if not isinstance(boundary, str) or message.get_content_type() != "multipart/form-data":
        raise Refusal(400, "The body must be multipart/form-data.")
    for part in body.split(b"--" + boundary.encode("latin-1", "replace"))[1:]:
        head, separator, content = part.partition(b"\r\n\r\n")
        if separator and f'name="{name}"'.encode() in head:
            return content.removesuffix(b"\r\n")
    raise Refusal(400, f'The body has no part "{name}".', name)


def samples_of(file):
    """Samples of a 16-bit mono WAV file, at 16 kHz, from -1 to 1."""
    try:
        with wave.open(io.BytesIO(file)) as audio:
            channels, width, rate, count = audio.getparams()[:4]
            if channels != 1 or width != 2 or rate not in (8000, 16_000):
                raise Refusal(400, "The file must be 16-bit mono at 8 or 16 kHz.", "file")
            if count > MAX_SECONDS * rate:
                raise Refusal(413, f"The file is longer than {MAX_SECONDS} s.", "file")
            samples = numpy.frombuffer(audio.readframes(count), dtype="<i2").astype(numpy.float32) / 32_768
    except (wave.Error, EOFError) as error:
        raise Refusal(400, f"The file is no WAV file: {error}", "file") from None
    return samples if rate == SAMPLE_RATE_HZ else doubled(samples)


def doubled(samples):
    """Twice the sample rate, by a filter that removes the image above 4 kHz."""
    if len(samples) == 0:
        return samples
    at = numpy.arange(-31, 32)
    taps = numpy.sinc(at / 2) * numpy.hamming(len(at))
    spaced = numpy.zeros(2 * len(samples), dtype=numpy.float32)
    spaced[::2] = samples
    return numpy.convolve(spaced, taps, "same").astype(numpy.float32)


def transcribe(samples):
    silence = numpy.zeros(int(PADDING_SECONDS * SAMPLE_RATE_HZ), dtype=numpy.float32)
    padded = numpy.concatenate([silence, samples, silence])
    transcript = transcriber.transcribe_without_streaming(padded.tolist(), SAMPLE_RATE_HZ)
    return " ".join(line.text.strip() for line in transcript.lines).strip()


# The first inference takes longer than the others.
transcribe(numpy.zeros(SAMPLE_RATE_HZ, dtype=numpy.float32))
serve("/audio/transcriptions", "moonshine-tiny-en", answer)
