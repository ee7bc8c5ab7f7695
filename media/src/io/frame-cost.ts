import { codecByName } from '../codec/payload-codec.ts'
import { Concealment } from '../dsp/concealment.ts'
import { ReceiveStream } from '../dsp/receive-stream.ts'
import { SyntheticSound } from '../dsp/testing/synthetic-sound.ts'
import { VoiceActivity } from '../dsp/voice-activity.ts'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../recorder/recording-ring.ts'

/** Prints what each step costs per 20 ms of one call, ns: `node media/src/io/frame-cost.ts`. */

const FRAME = 160
const FRAMES = 1000
const ROUNDS = 60

const speech = new SyntheticSound(FRAMES * 20)
for (let ms = 0; ms < FRAMES * 20; ms += 2000) speech.vowel(ms, ms + 1200, -20, { syllables: true })
const { samples } = speech
const encoded = new Uint8Array(samples.length)
const decoded = new Int16Array(FRAME)
const pulled = new Int16Array(480)

/** Nanoseconds per call of `step`, which gets a running frame number; the median of the rounds. */
function cost(step: (frame: number) => void): number {
  const rounds: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = process.hrtime.bigint()
    for (let i = 0; i < FRAMES; i++) step(round * FRAMES + i)
    rounds.push(Number(process.hrtime.bigint() - began) / FRAMES)
  }
  return Math.round(rounds.sort((a, b) => a - b)[ROUNDS >> 1]!)
}

const at = (frame: number) => (frame % FRAMES) * FRAME
const voice = new VoiceActivity()
const clean = new ReceiveStream({ openedAtMs: 0 })
const lossy = new ReceiveStream({ openedAtMs: 0 })
const concealment = new Concealment()
const buffer = allocateRecordingRing()
const ring = new RecordingRing(buffer)
const reader = new RecordingRingReader(buffer)
const turn = new Uint8Array(16_000)

function receive(stream: ReceiveStream, frame: number): void {
  stream.push(1, frame & 0xffff, (frame * FRAME) >>> 0, samples, at(frame), FRAME, frame * 20)
  while (stream.pull(frame * 20, pulled) > 0);
}

const pcmu = codecByName('PCMU')
const pcma = codecByName('PCMA')
console.log(
  JSON.stringify({
    ns_per_20ms: {
      encode_pcmu: cost(frame => pcmu.encode(samples, at(frame), FRAME, encoded, at(frame))),
      decode_pcmu: cost(frame => pcmu.decode(encoded, at(frame), FRAME, decoded, 0)),
      encode_pcma: cost(frame => pcma.encode(samples, at(frame), FRAME, encoded, at(frame))),
      decode_pcma: cost(frame => pcma.decode(encoded, at(frame), FRAME, decoded, 0)),
      voice_activity: cost(frame => {
        voice.push(frame * FRAME, samples, at(frame), FRAME)
        while (voice.take() !== null);
      }),
      receive_stream: cost(frame => receive(clean, frame)),
      receive_stream_2_percent_loss: cost(frame => {
        if (frame % 50 !== 7) receive(lossy, frame)
      }),
      conceal_a_lost_packet: cost(frame => {
        concealment.good(samples, at(frame), 80)
        concealment.conceal(pulled, 0, FRAME)
      }),
      record_both_sides: cost(frame => {
        ring.writeLeft(frame * FRAME, samples, at(frame), FRAME)
        ring.writeRight(frame * FRAME, samples, at(frame), FRAME)
        // The writer thread's share: every 500 ms.
        if (frame % 25 === 0) reader.release(reader.copy(turn, reader.available(false), false))
      }),
    },
  }),
)
