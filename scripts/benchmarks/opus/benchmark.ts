import { codecByName, Libopus, loadOpus } from '@parley/media/testing'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { voiceWithPauses } from './voice.ts'

const PACKET_S = 0.02
const PACKETS = 500
const ROUNDS = 10
const WARM_UP_ROUNDS = 3
const MOST_BYTES = 1500
/** The first is that of calls (media/src/codec/opus.ts); at 48 kHz the bit rate that RFC 7587 section 3.1.1 gives fullband speech. */
const ENCODERS = [
  { rate: 16_000, bitrate: 28_000, complexity: 1 },
  { rate: 16_000, bitrate: 24_000, complexity: 5 },
  { rate: 48_000, bitrate: 32_000, complexity: 1 },
  { rate: 48_000, bitrate: 32_000, complexity: 5 },
]

interface Costs {
  /** CPU per packet of 20 ms, us. */
  readonly encode_us: number
  readonly decode_us: number
  readonly bytes_per_packet: number
}

/** Encodes packet `i`, or decodes it; returns how many bytes, or samples. */
type Step = (i: number) => number

/**
 * CPU of Opus per call-tick (20 ms each way), at 16 kHz and at 48 kHz and as calls have it, beside G.722 and G.711:
 * `npm run bench -- opus [--rounds 10]`.
 */
export const benchmark: Benchmark = { name: 'opus', options: ['rounds'], run }

async function run({ option, line }: BenchmarkOptions): Promise<object> {
  const rounds = Number(option('rounds') ?? ROUNDS)
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 1000)) throw new Error('--rounds takes 1 to 1000')
  const library = await Libopus.load()
  await loadOpus()
  const ticks: Record<string, number> = {}
  for (const { rate, bitrate, complexity } of ENCODERS) {
    for (const fec of [0, 1]) {
      const encoder = library.encoder(rate, { bitrate, complexity, fec, lossPercent: 10 * fec })
      const decoder = library.decoder(rate)
      const figures = measure(rate, rounds, {
        encode: (audio, at, count, packet) => encoder.encode(audio, at, count, packet, 0),
        decode: (packet, length, into) => decoder.decode(packet, 0, length, into, 0, 0, into.length),
      })
      line({ bench: 'opus', codec: 'OPUS', rate, bitrate, complexity, fec: fec === 1, ...figures })
      ticks[`opus_${rate / 1000}_khz_complexity_${complexity}${fec === 1 ? '_fec' : ''}_us`] = round(
        figures.encode_us + figures.decode_us,
      )
    }
  }
  // Opus here is the codec of calls.
  for (const name of ['OPUS', 'G722', 'PCMU'] as const) {
    const codec = codecByName(name)
    const [encoder, decoder] = [codec.createEncoder(), codec.createDecoder()]
    const figures = measure(codec.format.sampleRateHz, rounds, {
      encode: (audio, at, count, packet) => encoder.encode(audio, at, count, packet, 0),
      decode: (packet, length, into) => decoder.decode(packet, 0, length, into, 0),
    })
    line({ bench: 'opus', codec: name, rate: codec.format.sampleRateHz, ...figures })
    ticks[`${name.toLowerCase()}_us`] = round(figures.encode_us + figures.decode_us)
  }
  return { bench: 'opus', ...ticks, dtx_packets_share: dtxShare() }
}

interface Pair {
  encode(audio: Int16Array, at: number, count: number, packet: Uint8Array): number
  decode(packet: Uint8Array, length: number, into: Int16Array): number
}

function measure(rate: number, rounds: number, pair: Pair): Costs {
  const frame = rate * PACKET_S
  const audio = voiceWithPauses(frame * PACKETS, rate)
  const packets = Array.from({ length: PACKETS }, () => new Uint8Array(MOST_BYTES))
  const lengths = new Uint16Array(PACKETS)
  const into = new Int16Array(frame)
  const encode: Step = i => {
    lengths[i] = pair.encode(audio, i * frame, frame, packets[i]!)
    return lengths[i]
  }
  const decode: Step = i => pair.decode(packets[i]!, lengths[i]!, into)
  const encodeUs = costOf(encode, rounds)
  const decodeUs = costOf(decode, rounds)
  if (decode(0) !== frame) throw new Error(`a packet of ${rate} Hz was not decoded`)
  return {
    encode_us: encodeUs,
    decode_us: decodeUs,
    bytes_per_packet: round(lengths.reduce((a, b) => a + b) / PACKETS),
  }
}

/** CPU of this thread per packet, us; the rounds before the measured ones let V8 compile. */
function costOf(step: Step, rounds: number): number {
  const all = (count: number) => {
    for (let k = 0; k < count; k++) for (let i = 0; i < PACKETS; i++) step(i)
  }
  all(WARM_UP_ROUNDS)
  const before = process.threadCpuUsage()
  all(rounds)
  const { user, system } = process.threadCpuUsage(before)
  return round((user + system) / (rounds * PACKETS))
}

/** Share of the packets of a voice with pauses that are sent to a peer that asks for DTX. */
function dtxShare(): number {
  const codec = codecByName('OPUS')
  const encoder = codec.createEncoder('usedtx=1')
  const frame = codec.format.sampleRateHz * PACKET_S
  const audio = voiceWithPauses(frame * PACKETS, codec.format.sampleRateHz)
  const packet = new Uint8Array(MOST_BYTES)
  let sent = 0
  for (let i = 0; i < PACKETS; i++) if (encoder.encode(audio, i * frame, frame, packet, 0) > 0) sent++
  return round(sent / PACKETS)
}

const round = (value: number) => Math.round(value * 100) / 100
