import { createHash } from 'node:crypto'
import { type AudioFormat, msToSamples, NARROWBAND, SeededRandom, VirtualTime, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { assemblyAiStreaming } from '../assemblyai/streaming-v3.ts'
import { deepgramNova } from '../deepgram/listen-v1.ts'
import { deepgramFlux } from '../deepgram/listen-v2.ts'
import { ProviderError } from '../errors.ts'
import { encodingFor } from '../service-encoding.ts'
import type { ConnectionListener } from './service-link.ts'
import type { RecogniserService } from './service-protocol.ts'
import { ServiceStream } from './service-stream.ts'

const SERVICES = {
  nova: { service: deepgramNova(), greeting: '' },
  flux: { service: deepgramFlux(), greeting: '{"type":"Connected"}' },
  assemblyai: { service: assemblyAiStreaming(), greeting: '{"type":"Begin"}' },
}

/** The messages of a call: 3 s of noise, a gap, a finalize request, a lost connection, 12 s without audio, and the end. */
function wireOf(
  { service, greeting }: { readonly service: RecogniserService; readonly greeting: string },
  format: AudioFormat,
) {
  const packetLength = msToSamples(20, format)
  const packets: Int16Array[] = []
  const time = new VirtualTime()
  const random = new SeededRandom(7)
  const listeners: ConnectionListener[] = []
  const messages: (string | Uint8Array)[] = []
  const stream = new ServiceStream({
    protocol: service.protocol,
    encoding: encodingFor(format),
    connect: listener => {
      listeners.push(listener)
      return { send: data => messages.push(typeof data === 'string' ? data : data.slice()), close: () => {} }
    },
    time,
    onClose: () => {},
  })
  let position = msToSamples(1_000_000, format)
  const noise = (count: number) => {
    for (let i = 0; i < count; i++) {
      const packet = new Int16Array(random.bytes(2 * packetLength).slice().buffer)
      packets.push(packet)
      stream.write(packet, position)
      position += packetLength
      time.advance(20)
    }
  }
  const greet = () => {
    listeners.at(-1)!.onOpen()
    if (greeting !== '') listeners.at(-1)!.onText(greeting)
  }
  noise(50)
  greet()
  noise(100)
  position += msToSamples(500, format)
  noise(10)
  stream.finalize()
  noise(5)
  listeners.at(-1)!.onEnd(new ProviderError('recogniser_unreachable', 'The connection was lost.'))
  noise(5)
  greet()
  noise(50)
  time.advance(12_000)
  stream.close()
  return { path: service.path({ language: 'en', format }), messages, firstPacket: packets[0]! }
}

/** Recorded when mu-law at 8 kHz was the only encoding: path, number of messages and SHA-256 of all messages. */
const G711_WIRE = {
  nova: {
    path: '/v1/listen?model=nova-3&language=en&encoding=mulaw&sample_rate=8000&channels=1&interim_results=true&vad_events=true&punctuate=true&smart_format=true&endpointing=300',
    messages: 110,
    digest: '704cf5dfac9e7da9',
  },
  flux: {
    path: '/v2/listen?model=flux-general-en&encoding=mulaw&sample_rate=8000',
    messages: 114,
    digest: '855ca40e5923ec9b',
  },
  assemblyai: {
    path: '/v3/ws?speech_model=universal-streaming-english&sample_rate=8000&encoding=pcm_mulaw',
    messages: 71,
    digest: '8b44300b7ca869e4',
  },
}

describe.each(['nova', 'flux', 'assemblyai'] as const)('the wire to the recogniser %s', name => {
  it('the connection to a recogniser carries a G.711 call as the recorded bytes of mu-law at 8 kHz', () => {
    const { path, messages } = wireOf(SERVICES[name], NARROWBAND)
    const hash = createHash('sha256')
    for (const message of messages) hash.update(`${typeof message} ${message.length} `).update(message)
    expect({ path, messages: messages.length, digest: hash.digest('hex').slice(0, 16) }).toEqual(G711_WIRE[name])
  })

  it('the connection to a recogniser carries a wideband call as 16 kHz linear samples, in messages as long and as many as for G.711', () => {
    const wideband = wireOf(SERVICES[name], WIDEBAND)
    const query = new URL(wideband.path, 'wss://host').searchParams
    expect(query.get('sample_rate')).toBe('16000')
    expect(query.get('encoding')).toBe(name === 'assemblyai' ? 'pcm_s16le' : 'linear16')
    const lengths = (messages: readonly (string | Uint8Array)[], bytesPerMs: number) =>
      messages.map(message => (typeof message === 'string' ? message : message.length / bytesPerMs))
    expect(lengths(wideband.messages, 32)).toEqual(lengths(wireOf(SERVICES[name], NARROWBAND).messages, 8))
    const [first] = wideband.messages.filter(message => typeof message !== 'string')
    const view = new DataView(first!.buffer, first!.byteOffset, first!.length)
    const sent = Array.from({ length: 320 }, (_, i) => view.getInt16(2 * i, true))
    expect(sent).toEqual([...wideband.firstPacket])
  })
})
