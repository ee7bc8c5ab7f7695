import { describe, expect, it } from 'vitest'
import { listenV2, listenV2Query } from './listen-v2.ts'

const turn = (event: string, fields: object = {}) => ({
  type: 'TurnInfo',
  event,
  turn_index: 0,
  audio_window_start: 0,
  audio_window_end: 2,
  transcript: '',
  words: [],
  end_of_turn_confidence: 0.7,
  ...fields,
})

function read(...messages: readonly object[]) {
  const reader = listenV2.openReader()
  return messages.map(message => reader(JSON.stringify(message))).at(-1)!
}

describe('reading messages of Flux', () => {
  it('an update before a turn reports silence', () => {
    expect(read(turn('Update'))).toEqual([{ type: 'silence', untilMs: 2000 }])
    expect(read(turn('StartOfTurn'), turn('Update')).map(({ type }) => type)).toEqual(['words'])
    expect(read(turn('StartOfTurn'), turn('EndOfTurn'), turn('Update', { turn_index: 1 }))).toMatchObject([
      { type: 'silence' },
    ])
  })

  it('an end of turn follows the words of the turn, whether eager or certain', () => {
    const words = [{ word: 'Yes.', start: 1, end: 1.5, confidence: 0.9 }]
    expect(read(turn('EndOfTurn', { words, trigger: 'manual' }))).toMatchObject([
      {
        type: 'words',
        final: true,
        forced: true,
        stopped: true,
        words: [{ text: 'Yes.', startMs: 1000, endMs: 1500 }],
      },
      { type: 'end-of-turn', confidence: 0.7, eager: false },
    ])
    expect(read(turn('EagerEndOfTurn', { words }))).toMatchObject([
      { type: 'words', final: false },
      { type: 'end-of-turn', eager: true },
    ])
    expect(read(turn('TurnResumed', { words }))).toMatchObject([{ type: 'turn-resumed' }, { type: 'words' }])
  })

  it('words without times are spread over the whole turn, not over its last window', () => {
    const late = turn('EndOfTurn', {
      audio_window_start: 3,
      audio_window_end: 4,
      words: [{ word: 'a' }, { word: 'b' }],
    })
    expect(read(turn('StartOfTurn', { audio_window_start: 1 }), late)).toMatchObject([
      { type: 'words', fromMs: 1000, untilMs: 4000 },
      {},
    ])
  })

  it('an error is classified as failed, refused or busy', () => {
    const error = (code: string) => read({ type: 'Error', sequence_id: 1, code, description: 'for people' })
    expect(error('INTERNAL_SERVER_ERROR')).toEqual([
      { type: 'failed', kind: 'failed', reason: 'INTERNAL_SERVER_ERROR: for people' },
    ])
    expect(error('UNAUTHORIZED')).toMatchObject([{ kind: 'refused' }])
    expect(error('RATE_LIMIT_EXCEEDED')).toMatchObject([{ kind: 'busy' }])
  })

  it('a malformed message yields no events but words', () => {
    for (const message of [{}, { type: 'TurnInfo' }, turn('Update', { turn_index: 'x' }), turn('New', { words: 3 })])
      expect(read(message).every(({ type }) => type === 'words')).toBe(true)
  })
})

describe('the query to Flux', () => {
  it('Flux in accurate mode ends a turn only with more confidence', () => {
    const accurate = listenV2Query('flux-general-en', { language: 'en', mode: 'accurate' })
    expect(accurate.get('eot_threshold')).toBe('0.85')
  })

  const options = { language: 'es-MX' } as const

  it('the query to Flux contains only the options that are set', () => {
    expect(Object.fromEntries(listenV2Query('flux-general-en', options))).toEqual({
      model: 'flux-general-en',
      encoding: 'mulaw',
      sample_rate: '8000',
    })
  })

  it('the query to Flux sends a language hint to a multilingual model, and keeps the longest silence in the range of the service', () => {
    const query = listenV2Query('flux-general-multi', { ...options, endpointingMs: 100 }, { endOfTurn: 0.8 })
    expect(query.get('language_hint')).toBe('es')
    expect(query.get('eot_timeout_ms')).toBe('500')
    expect(query.get('eot_threshold')).toBe('0.8')
  })
})
