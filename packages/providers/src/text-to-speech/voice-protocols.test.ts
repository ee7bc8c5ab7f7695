import { WIDEBAND } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cartesiaProtocol } from '../cartesia/tts-websocket.ts'
import { AURA_VOICES, auraProtocol } from '../deepgram/speak-v1.ts'
import { elevenLabsProtocol } from '../elevenlabs/multi-stream-input.ts'

const elevenLabs = elevenLabsProtocol({
  apiKey: 'key',
  model: 'eleven_flash_v2_5',
  baseUrl: 'wss://host',
  voice: 'default',
})
const cartesia = cartesiaProtocol({
  apiKey: 'key',
  model: 'sonic-2',
  baseUrl: 'wss://host',
  version: '2025-04-16',
  voice: 'default',
})
const sonic3 = cartesiaProtocol({
  apiKey: 'key',
  model: 'sonic-3',
  baseUrl: 'wss://host',
  version: '2025-04-16',
  voice: 'v',
})
const aura = auraProtocol({ apiKey: 'key', model: 'aura-2', baseUrl: 'wss://host', voices: AURA_VOICES })

const request = { text: 'Hello there.', language: 'es-MX' }
const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams)

describe('ElevenLabs', () => {
  it('the ElevenLabs protocol puts model, format, language and voice into the URL, and the key into a header', () => {
    expect(elevenLabs.url({ ...request, voice: 'abc' })).toMatch(
      /^wss:\/\/host\/v1\/text-to-speech\/abc\/multi-stream-input\?/,
    )
    expect(queryOf(elevenLabs.url(request))).toMatchObject({
      model_id: 'eleven_flash_v2_5',
      output_format: 'ulaw_8000',
      language_code: 'es',
    })
    expect(elevenLabs.url(request)).not.toContain('key=')
    expect(elevenLabs.headers).toEqual({ 'xi-api-key': 'key' })
  })

  it('requests linear audio for a wideband call, and counts the times of words by its bytes', () => {
    const wide = { ...request, format: WIDEBAND }
    expect(queryOf(elevenLabs.url(wide)).output_format).toBe('pcm_16000')
    const reader = elevenLabs.reader()
    reader.begin('c', wide)
    const audio = Buffer.alloc(3200).toString('base64')
    reader.text(JSON.stringify({ contextId: 'c', audio, alignment: { chars: ['a', ' '], charStartTimesMs: [10, 20] } }))
    const next = { contextId: 'c', audio, alignment: { chars: ['b', ' '], charStartTimesMs: [10, 20] } }
    expect(reader.text(JSON.stringify(next))[0]).toMatchObject({ words: [{ text: 'b', startMs: 110 }] })
  })

  it('a temperature becomes the stability of the voice', () => {
    const opened = (temperature: number) => JSON.parse(elevenLabs.begin('c', { ...request, temperature })[0]!)
    expect(opened(2).voice_settings).toEqual({ stability: 0 })
    expect(opened(0.5).voice_settings).toEqual({ stability: 0.75 })
    expect(opened(1)).not.toHaveProperty('voice_settings')
  })

  it('the ElevenLabs protocol omits the language for models that do not accept one', () => {
    const old = elevenLabsProtocol({ apiKey: 'k', model: 'eleven_flash_v2', baseUrl: 'wss://host', voice: 'v' })
    expect(queryOf(old.url(request))).not.toHaveProperty('language_code')
  })

  it('opens, fills, flushes and closes a context, at the nearest speed that the service offers', () => {
    expect(elevenLabs.begin('c', { ...request, speed: 2 }).map(text => JSON.parse(text))).toEqual([
      { text: ' ', context_id: 'c', voice_settings: { speed: 1.2 } },
      { text: 'Hello there. ', context_id: 'c', flush: true },
      { context_id: 'c', close_context: true },
    ])
  })

  it('the ElevenLabs protocol joins words that are split between messages, and reads both names of the times', () => {
    const reader = elevenLabs.reader()
    reader.begin('c', request)
    const audio = Buffer.alloc(800).toString('base64')
    const first = { contextId: 'c', audio, alignment: { chars: [...'He'], charStartTimesMs: [10, 20] } }
    const second = { contextId: 'c', audio, alignment: { chars: [...'y yo'], charsStartTimesMs: [0, 10, 50, 60] } }
    expect(reader.text(JSON.stringify(first)).map(({ type }) => type)).toEqual(['audio'])
    expect(reader.text(JSON.stringify(second))[0]).toEqual({
      type: 'words',
      utterance: 'c',
      words: [{ text: 'Hey', startMs: 10 }],
    })
    expect(reader.text(JSON.stringify({ contextId: 'c', isFinal: true }))).toEqual([
      { type: 'words', utterance: 'c', words: [{ text: 'yo', startMs: 150 }] },
      { type: 'ended', utterance: 'c' },
    ])
  })

  it.each([
    ['quota_exceeded', 'voice_refused', false],
    ['voice_id_does_not_exist', 'voice_unknown', false],
    ['max_active_conversations', 'voice_busy', true],
    ['too_many_concurrent_requests', 'voice_busy', true],
    ['input_timeout_exceeded', 'voice_failed', true],
  ])('the ElevenLabs protocol reports the error %s as "%s"', (error, code, retryable) => {
    const [message] = elevenLabs.reader().text(JSON.stringify({ message: 'No.', error, code: 1008 }))
    expect(message).toMatchObject({ type: 'failed', utterance: null, error: { code, retryable } })
  })
})

describe('Cartesia', () => {
  it('requests mu-law and word times in one message', () => {
    expect(JSON.parse(cartesia.begin('c', request)[0]!)).toMatchObject({
      context_id: 'c',
      transcript: 'Hello there.',
      language: 'es',
      voice: { mode: 'id', id: 'default' },
      output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
      add_timestamps: true,
      continue: false,
    })
    expect(cartesia.cancel('c').map(text => JSON.parse(text))).toEqual([{ context_id: 'c', cancel: true }])
  })

  it('requests 16-bit linear audio for a wideband call', () => {
    const [message] = cartesia.begin('c', { ...request, format: WIDEBAND })
    expect(JSON.parse(message!).output_format).toEqual({ container: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 })
  })

  it('the Cartesia protocol sends the speed in the form that the model accepts', () => {
    const speed = (protocol: typeof cartesia, value: number) =>
      JSON.parse(protocol.begin('c', { ...request, speed: value })[0]!)
    expect(speed(cartesia, 2).speed).toBe('fast')
    expect(speed(cartesia, 0.7).speed).toBe('slow')
    expect(speed(cartesia, 1)).not.toHaveProperty('speed')
    expect(speed(sonic3, 2).generation_config).toEqual({ speed: 1.5 })
    expect(speed(sonic3, 0.5).generation_config).toEqual({ speed: 0.6 })
  })

  it.each([
    [{ status_code: 429 }, 'voice_busy', true],
    [{ status_code: 402 }, 'voice_refused', false],
    [{ status_code: 404, error_code: 'voice_not_found' }, 'voice_unknown', false],
    [{ status_code: 500 }, 'voice_failed', true],
    [{ status_code: 400, error: 'older versions write so' }, 'voice_failed', false],
  ])('the Cartesia protocol reports the error %j as "%s"', (fields, code, retryable) => {
    const [message] = cartesia.reader().text(JSON.stringify({ type: 'error', done: true, context_id: 'c', ...fields }))
    expect(message).toMatchObject({ type: 'failed', utterance: 'c', error: { code, retryable } })
  })
})

describe('Deepgram', () => {
  it('the Deepgram voice protocol puts voice and language into the model name, and passes a whole model name on', () => {
    expect(queryOf(aura.url(request))).toEqual({ model: 'aura-2-celeste-es', encoding: 'mulaw', sample_rate: '8000' })
    expect(queryOf(aura.url({ language: 'en', voice: 'zeus', speed: 2 }))).toMatchObject({
      model: 'aura-2-zeus-en',
      speed: '1.5',
    })
    expect(queryOf(aura.url({ language: 'en', voice: 'aura-asteria-en' })).model).toBe('aura-asteria-en')
  })

  it('requests linear audio for a wideband call, over other sockets than mu-law', () => {
    const wide = aura.url({ ...request, format: WIDEBAND })
    expect(queryOf(wide)).toMatchObject({ encoding: 'linear16', sample_rate: '16000' })
    expect(wide).not.toBe(aura.url(request))
  })

  it('the Deepgram voice protocol splits a text that is too long for one message between sentences, and flushes once', () => {
    const text = 'This is a sentence of which there are many. '.repeat(90).trim()
    const messages = aura.begin('c', { text, language: 'en' }).map(one => JSON.parse(one))
    expect(messages.at(-1)).toEqual({ type: 'Flush' })
    const pieces = messages.slice(0, -1).map(({ text: piece }) => piece)
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(2000)
    expect(pieces.join('').trim()).toBe(text)
  })

  it('the Deepgram voice protocol ignores warnings, except those after which the text is not spoken', () => {
    const read = (message: object) => aura.reader().text(JSON.stringify(message))
    expect(read({ type: 'Warning', description: 'Something else.', code: 'X' })).toEqual([])
    expect(read({ type: 'Warning', description: 'Too many Flush messages.', code: 'Y' })).toMatchObject([
      { type: 'failed', error: { code: 'voice_busy', retryable: true } },
    ])
  })
})

describe('arbitrary messages of a voice service', () => {
  it.each([
    ['ElevenLabs', elevenLabs],
    ['Cartesia', cartesia],
    ['Deepgram', aura],
  ])('cause no exception in the %s protocol and yield only numeric times', (_name, protocol) => {
    const keys = fc.constantFrom(
      ...['type', 'contextId', 'context_id', 'audio', 'data', 'alignment', 'normalizedAlignment', 'isFinal', 'error'],
      ...['chars', 'charStartTimesMs', 'word_timestamps', 'words', 'start', 'message', 'status_code', 'title', 'code'],
    )
    const values = [
      fc.constantFrom('c', 'chunk', 'timestamps', 'done', 'error', 'Warning', ''),
      fc.double(),
      fc.constant(null),
    ]
    const message = fc.object({ key: keys, values, maxDepth: 3, maxKeys: 6, withNullPrototype: false })
    fc.assert(
      fc.property(fc.array(fc.oneof(message, fc.jsonValue({ maxDepth: 1 })), { maxLength: 4 }), messages => {
        const reader = protocol.reader()
        reader.begin('c', request)
        for (const message of messages.flatMap(value => reader.text(JSON.stringify(value)))) {
          if (message.type !== 'words') continue
          for (const { text, startMs } of message.words) {
            expect(typeof text).toBe('string')
            expect(startMs >= 0 && Number.isFinite(startMs)).toBe(true)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})
