import { describe, expect, it } from 'vitest'
import { assemblyAiFailure, streamingV3, streamingV3Query } from './streaming-v3.ts'

const turn = (order: number, texts: string, isOver = false, fields: object = {}) => ({
  type: 'Turn',
  turn_order: order,
  turn_is_formatted: false,
  end_of_turn: isOver,
  // Words that are not final are in the list alone.
  transcript: '',
  end_of_turn_confidence: 0.4,
  words: texts.split(' ').map((text, i) => ({ text, start: 100 * i, end: 100 * i + 90, confidence: 0.9 })),
  ...fields,
})

function read(...messages: readonly object[]) {
  const reader = streamingV3.openReader()
  return messages.map(message => reader(JSON.stringify(message))).at(-1)!
}

describe('reading messages of AssemblyAI', () => {
  it('a turn message yields all words of the turn so far, including those that may change', () => {
    expect(read(turn(0, 'hi there'))).toMatchObject([
      { type: 'words', passage: 0, final: false, words: [{ text: 'hi', startMs: 0, endMs: 90 }, { text: 'there' }] },
    ])
  })

  it('a turn ends once, although its formatted version arrives later', () => {
    expect(read(turn(0, 'hi', true))).toMatchObject([
      { type: 'words', final: true },
      { type: 'end-of-turn', confidence: 0.4, eager: false },
    ])
    expect(read(turn(0, 'hi', true), turn(0, 'Hi.', true, { turn_is_formatted: true }))).toEqual([])
    expect(read(turn(0, 'hi', true), turn(1, 'so'))).toMatchObject([{ passage: 1 }])
  })

  it('a turn yields the detected language, which a stream of several languages asks for', () => {
    expect(read(turn(0, 'hola', true, { language_code: 'es', language_confidence: 0.9 }))[0]).toMatchObject({
      language: 'es',
    })
    const query = (model: string, otherLanguages: string[]) =>
      streamingV3Query(model, { language: 'en', otherLanguages }).get('language_detection')
    expect(query('universal-streaming-multilingual', ['es'])).toBe('true')
    expect(query('universal-streaming-multilingual', [])).toBeNull()
    expect(query('universal-streaming-english', ['es'])).toBeNull()
  })

  it('a malformed message yields no events', () => {
    for (const message of [{}, { type: 'Turn' }, turn(Number.NaN, 'x'), { type: 'Termination' }])
      expect(read(message)).toEqual([])
  })

  it('close codes and reasons are classified as refused, busy or failed', () => {
    expect(assemblyAiFailure(1008, 'Unauthorized Connection: Missing Authorization header')).toBe('refused')
    expect(assemblyAiFailure(1008, 'Unauthorized Connection: Too many concurrent sessions')).toBe('busy')
    expect(assemblyAiFailure(3009, '')).toBe('busy')
    expect(assemblyAiFailure(3008, 'Session Expired: Maximum session duration exceeded')).toBe('failed')
    expect(read({ type: 'Error', error_code: 3005, error: 'Session Cancelled' })).toEqual([
      { type: 'failed', kind: 'failed', reason: 'Session Cancelled' },
    ])
  })
})

it('the AssemblyAI query requests mu-law at 8 kHz, with turn silences and key terms', () => {
  const options = { language: 'en', endpointingMs: 900, keywords: ['Parley'] } as const
  expect(Object.fromEntries(streamingV3Query('universal-streaming-english', options, { minSilenceMs: 300 }))).toEqual({
    speech_model: 'universal-streaming-english',
    sample_rate: '8000',
    encoding: 'pcm_mulaw',
    min_turn_silence: '300',
    max_turn_silence: '900',
    keyterms_prompt: '["Parley"]',
  })
})
