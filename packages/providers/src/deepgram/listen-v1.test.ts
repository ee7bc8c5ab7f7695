import { describe, expect, it } from 'vitest'
import { listenV1, listenV1Query } from './listen-v1.ts'

const read = (message: object) => listenV1.openReader()(JSON.stringify(message))

const result = (fields: object, best: object) => ({
  type: 'Results',
  start: 2,
  duration: 1.5,
  is_final: false,
  speech_final: false,
  channel: { alternatives: [best] },
  ...fields,
})

describe('reading results of Deepgram', () => {
  it('a result yields punctuated words with their times', () => {
    const word = { word: 'hello', punctuated_word: 'Hello,', start: 2.1, end: 2.4, confidence: 0.9 }
    expect(read(result({ is_final: true }, { transcript: 'Hello,', words: [word] }))).toEqual([
      {
        type: 'words',
        passage: 2000,
        words: [{ text: 'Hello,', startMs: 2100, endMs: 2400, confidence: 0.9 }],
        fromMs: 2000,
        untilMs: 3500,
        final: true,
        forced: null,
        stopped: false,
      },
    ])
  })

  it('a result without words or word times yields the words of its transcript', () => {
    expect(read(result({}, { transcript: 'hello there' }))).toMatchObject([
      { words: [{ text: 'hello', startMs: null }, { text: 'there' }] },
    ])
    expect(read(result({}, { transcript: 'x', words: [{ word: 'x', start: -1, end: 'soon' }] }))).toMatchObject([
      { words: [{ text: 'x', startMs: null, endMs: null }] },
    ])
  })

  it('a result with from_finalize answers a finalize request', () => {
    expect(read(result({ is_final: true, from_finalize: true }, { transcript: '' }))).toMatchObject([
      { final: true, forced: true, stopped: true },
    ])
  })

  it('a result yields the language that most of its words are in, as a primary tag', () => {
    expect(read(result({ is_final: true }, { transcript: 'hola', languages: ['es-419', 'en'] }))).toMatchObject([
      { language: 'es' },
    ])
    for (const languages of [[], 'es', [7], undefined])
      expect(read(result({ is_final: true }, { transcript: 'hola', languages }))[0]).not.toHaveProperty('language')
  })

  it('a malformed result yields no events', () => {
    for (const message of [{}, [], 7, { type: 'Results' }, result({ start: null }, {}), result({ channel: 3 }, {})])
      expect(read(message as object)).toEqual([])
    expect(listenV1.openReader()('{')).toEqual([])
  })

  it('a recognition result is cut to 2000 words of 200 characters, and its times are bounded', () => {
    const words = Array.from({ length: 5000 }, () => ({ word: 'x'.repeat(5000), start: 1e300, end: 1e300 }))
    const [event] = read(result({}, { transcript: '', words }))
    expect(event).toMatchObject({ type: 'words' })
    if (event?.type !== 'words') return
    expect(event.words).toHaveLength(2000)
    expect(event.words[0]!.text).toHaveLength(200)
    expect(event.words[0]!.startMs).toBeLessThan(1e9)
  })
})

describe('the query to Deepgram', () => {
  it('Nova in accurate mode waits for longer silences, and the medical vocabulary selects another model for English', () => {
    const query = (model: string, options: object) =>
      Object.fromEntries(listenV1Query(model, { language: 'en-US', ...options }))
    expect(query('nova-3', {})).toMatchObject({ model: 'nova-3', endpointing: '300' })
    expect(query('nova-3', { mode: 'accurate', vocabulary: 'medical' })).toMatchObject({
      model: 'nova-3-medical',
      endpointing: '800',
    })
    expect(query('nova-3', { vocabulary: 'medical', language: 'es' }).model).toBe('nova-3')
    expect(query('nova-3-medical', { vocabulary: 'medical' }).model).toBe('nova-3-medical')
  })

  it('a stream of several languages asks for the multilingual model where it knows all of them', () => {
    const language = (model: string, otherLanguages: string[]) =>
      listenV1Query(model, { language: 'en', otherLanguages }).get('language')
    expect(language('nova-3', ['es'])).toBe('multi')
    expect(language('nova-2-phonecall', ['es'])).toBe('multi')
    expect(language('nova-2', ['fr'])).toBe('en')
    expect(language('nova-3', [])).toBe('en')
    expect(language('enhanced', ['es'])).toBe('en')
  })

  it('requests mu-law at 8 kHz, a supported language, and key terms under the name that the model reads', () => {
    const options = { language: 'en-ZA', keywords: ['Parley'] } as const
    const query = listenV1Query('nova-3', options)
    expect(Object.fromEntries(query)).toMatchObject({
      model: 'nova-3',
      language: 'en',
      encoding: 'mulaw',
      sample_rate: '8000',
      interim_results: 'true',
      vad_events: 'true',
      endpointing: '300',
      keyterm: 'Parley',
    })
    expect(listenV1Query('nova-2-phonecall', { ...options, language: 'en-US' }).get('keywords')).toBe('Parley')
    expect(listenV1Query('nova-3', { ...options, language: 'en-US' }).get('language')).toBe('en-US')
    expect(listenV1Query('nova-3', { ...options, endpointingMs: 500 }).get('endpointing')).toBe('500')
  })
})
