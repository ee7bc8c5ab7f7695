import type { AddressInfo } from 'node:net'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { assemblyAiStreaming } from '../assemblyai/streaming-v3.ts'
import { CartesiaVoice } from '../cartesia/io/cartesia-voice.ts'
import { AuraVoice } from '../deepgram/io/aura-voice.ts'
import { deepgramNova } from '../deepgram/listen-v1.ts'
import { deepgramFlux } from '../deepgram/listen-v2.ts'
import { ElevenLabsVoice } from '../elevenlabs/io/elevenlabs-voice.ts'
import type { ProviderFailure } from '../errors.ts'
import { listenTo } from '../speech-to-text/testing/listened-stream.ts'
import type { TextToSpeech } from '../text-to-speech/text-to-speech.ts'
import { ServiceRecogniser } from './service-recogniser.ts'
import { withoutSecret } from './service-secret.ts'

const KEY = 'k3y-0123456789-secret-of-the-test'
/** Messages whose truncation falls before, inside or after the key. */
const MESSAGES = [`${KEY} is not known.`, ...[185, 195, 285].map(length => `${'x'.repeat(length)}${KEY}`)]
const options = { apiKey: KEY, time: runningTime }

/** A service that runs `behave` for each connection. */
async function serving(behave: (socket: WebSocket) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', behave)
  await new Promise<void>(resolve => server.on('listening', resolve))
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function expectNoKey(error: ProviderFailure): void {
  const texts = `${error.message} ${error.stack} ${String(error.cause)}`
  expect(texts).not.toContain(KEY.slice(0, 10))
}

describe('an error message of a service never brings the key, or part of it, into the error of', () => {
  const contextOf = (request: string) => (JSON.parse(request) as { context_id: string }).context_id
  it.each([
    [
      'ElevenLabs',
      (baseUrl: string) => new ElevenLabsVoice({ ...options, baseUrl }),
      (text: string, request: string) => ({ error: 'internal', message: text, contextId: contextOf(request) }),
    ],
    [
      'Cartesia',
      (baseUrl: string) => new CartesiaVoice({ ...options, baseUrl }),
      (text: string, request: string) => ({
        type: 'error',
        title: text,
        status_code: 500,
        context_id: contextOf(request),
      }),
    ],
    [
      'Aura',
      (baseUrl: string) => new AuraVoice({ ...options, baseUrl }),
      (text: string) => ({ type: 'Error', description: text }),
    ],
  ] satisfies [string, (baseUrl: string) => TextToSpeech, (text: string, request: string) => object][])(
    '%s',
    async (_name, make, error) => {
      for (const text of MESSAGES) {
        const url = await serving(socket =>
          socket.once('message', request => socket.send(JSON.stringify(error(text, String(request))))),
        )
        const voice = make(url)
        onTestFinished(() => voice.close())
        const chunks = voice.synthesize({ text: 'One.', language: 'en' }, new AbortController().signal)
        const failure = await chunks[Symbol.asyncIterator]()
          .next()
          .then(
            () => null,
            (error: ProviderFailure) => error,
          )
        expect(failure).toMatchObject({ name: 'ParleyError' })
        expectNoKey(failure!)
      }
    },
  )

  it.each([
    ['Deepgram', deepgramNova(), (text: string) => ({ type: 'Error', description: text })],
    ['Flux', deepgramFlux(), (text: string) => ({ type: 'Error', code: 'AUTH', description: text })],
    ['AssemblyAI', assemblyAiStreaming(), (text: string) => ({ type: 'Error', error: text, error_code: 1008 })],
  ] as const)('%s', async (_name, service, error) => {
    for (const text of MESSAGES) {
      const baseUrl = await serving(socket => socket.send(JSON.stringify(error(text))))
      const recogniser = new ServiceRecogniser(service, { ...options, baseUrl })
      onTestFinished(() => recogniser.close())
      const event = await listenTo(recogniser.open({ language: 'en' })).event('error')
      expectNoKey(event.error)
    }
  })
})

describe('withoutSecret', () => {
  it('withoutSecret replaces each occurrence of the secret, even where only its beginning is left', () => {
    expect(withoutSecret('a 0123456789 b 0123456789', '0123456789')).toBe('a … b …')
    expect(withoutSecret('cut: 012345678 (500)', '0123456789')).toBe('cut: … (500)')
  })

  it('withoutSecret leaves a text without the secret as it is', () => {
    expect(withoutSecret('012345 stays', '0123456789')).toBe('012345 stays')
    expect(withoutSecret('short key', 'key')).toBe('short …')
    for (const none of ['', null]) expect(withoutSecret('as it was', none)).toBe('as it was')
  })
})
