import { WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { realTime, sonioxFailure, startRequest } from './real-time.ts'

/** Tokens in the form "text" (final) and "text?" (may change), 100 ms each. */
function tokens(...texts: readonly string[]): object {
  return {
    tokens: texts.map((text, i) => ({
      text: text.replace('?', ''),
      start_ms: 100 * i,
      end_ms: 100 * i + 100,
      is_final: !text.endsWith('?'),
    })),
    final_audio_proc_ms: 500,
    total_audio_proc_ms: 900,
  }
}

/** The words of the last event, and whether they are final, after the messages. */
function read(...messages: readonly object[]) {
  const reader = realTime.openReader()
  return messages.map(message => reader(JSON.stringify(message))).at(-1)!
}
const textsOf = (events: ReturnType<typeof read>) =>
  events.flatMap(event => (event.type === 'words' ? [event.words.map(({ text }) => text).join(' ')] : []))

describe('reading messages of Soniox', () => {
  it('tokens are joined to words at their spaces, also across messages', () => {
    expect(textsOf(read(tokens(' gar'), tokens('den', ' is?')))).toEqual(['garden is'])
    expect(textsOf(read(tokens(' gar'), tokens('den?', ',?', ' is?')))).toEqual(['garden, is'])
    expect(textsOf(read(tokens(' the', ' gar'), tokens('den', ' gate'), tokens(' is?')))).toEqual([
      'the garden gate is',
    ])
  })

  it('an endpoint ends the utterance and the turn', () => {
    const events = read(tokens(' one?'), tokens(' one', ' two', '<end>', ' three?'))
    expect(events).toMatchObject([
      { type: 'words', final: false },
      { type: 'words', passage: 0, final: true, forced: false, stopped: true },
      { type: 'end-of-turn', eager: false },
      { type: 'words', passage: 1, final: false },
    ])
    expect(textsOf(events)).toEqual(['one two', 'one two', 'three'])
  })

  it('a finalize request is answered, with and without words', () => {
    expect(read(tokens(' one?'), tokens(' one', '<fin>'))).toMatchObject([
      { final: false },
      { final: true, forced: true, words: [{ text: 'one', startMs: 0, endMs: 100 }] },
    ])
    expect(read(tokens('<fin>'))).toMatchObject([{ type: 'words', final: true, forced: true, words: [] }])
  })

  it('messages without tokens report silence, unless words are open', () => {
    expect(read(tokens())).toEqual([{ type: 'silence', untilMs: 500 }])
    expect(read(tokens(' one?'), tokens())).toMatchObject([{ type: 'words', words: [] }])
  })

  it('malformed messages yield no events, and errors are classified', () => {
    for (const message of [{}, { tokens: 'x' }, { tokens: [null, 3] }, { finished: true }])
      expect(read(message)).toEqual([])
    expect(read({ error_code: 503, error_message: 'Cannot continue request (code 3).' })).toEqual([
      { type: 'failed', kind: 'failed', reason: 'Cannot continue request (code 3).' },
    ])
    expect([401, 402, 429, 408].map(code => sonioxFailure(code, ''))).toEqual(['refused', 'refused', 'busy', 'failed'])
  })

  it('an utterance without an end becomes final after 200 words', () => {
    const many = tokens(...Array.from({ length: 300 }, (_, i) => ` w${i}`))
    expect(read(many)).toMatchObject([{ type: 'words', final: false }])
    expect(read(many, tokens(' x', ' y'))).toMatchObject([{ type: 'words', final: false }])
  })
})

it('an utterance yields the language of most of its tokens, which a stream of several languages asks for', () => {
  const said = ['hola', 'ok', 'señor'].map((text, i) => ({
    text: ` ${text}`,
    is_final: true,
    language: i === 1 ? 'en' : 'es',
  }))
  const end = { text: '<end>', is_final: true }
  expect(read({ tokens: [...said, end] })).toContainEqual(expect.objectContaining({ final: true, language: 'es' }))
  expect(startRequest('stt-rt-v5', { language: 'en', otherLanguages: ['es'] })).toMatchObject({
    language_hints: ['en', 'es'],
    enable_language_identification: true,
  })
})

it('the first message to Soniox describes the audio, the language, the endpoint and the expected words', () => {
  expect(startRequest('stt-rt-v5', { language: 'es-MX' })).toEqual({
    model: 'stt-rt-v5',
    audio_format: 'mulaw',
    sample_rate: 8000,
    num_channels: 1,
    language_hints: ['es'],
    enable_endpoint_detection: true,
  })
  expect(
    startRequest('stt-rt-v5', {
      language: 'en',
      format: WIDEBAND,
      mode: 'accurate',
      vocabulary: 'medical',
      keywords: ['Parley'],
    }),
  ).toMatchObject({
    audio_format: 'pcm_s16le',
    sample_rate: 16_000,
    max_endpoint_delay_ms: 3000,
    endpoint_sensitivity: -0.5,
    context: { general: [{ key: 'domain', value: 'Healthcare' }], terms: ['Parley'] },
  })
  const earlier = startRequest('stt-rt-v4', { language: 'en', mode: 'accurate', endpointingMs: 100 })
  expect(earlier).toMatchObject({ max_endpoint_delay_ms: 500 })
  expect(earlier).not.toHaveProperty('endpoint_sensitivity')
})
