import { describe, expect, it } from 'vitest'
import { Endpointer, type Silence } from './endpointing.ts'
import { lexiconsOf } from './lexicon/lexicon.ts'

const wordsOf = (text: string) =>
  text.split(' ').map((word, i) => ({ text: word, startMs: i * 300, endMs: i * 300 + 250 }))
const silence = (text: string, change: Partial<Silence> = {}): Silence => ({
  words: wordsOf(text),
  isTextBehind: false,
  prosody: null,
  endOfTurn: null,
  ...change,
})
const adaptive = () => new Endpointer({ mode: 'adaptive' }, lexiconsOf(['en']))

describe('endpointing', () => {
  it('the silence that ends a turn is longer while the transcript lags behind the voice', () => {
    const endpointer = adaptive()
    expect(endpointer.silenceNeeded(silence('Yes.', { isTextBehind: true }), 1)).toBeGreaterThan(
      endpointer.silenceNeeded(silence('Yes.'), 1) + 400,
    )
  })

  it.each(['I guess so', 'I suppose so', 'I believe so'])('"%s" is an answer, not a hesitation', text => {
    expect(adaptive().silenceNeeded(silence(text), 1)).toBeLessThan(300)
  })

  it('letters wait less long after the question for a spelling, but longer than whole sentences', () => {
    const endpointer = adaptive()
    const unknown = endpointer.silenceNeeded(silence('b r e n n a n'), 1)
    endpointer.expect({ kind: 'spelling' })
    const asked = endpointer.silenceNeeded(silence('b r e n n a n'), 1)
    expect(asked).toBeLessThan(unknown - 200)
    expect(asked).toBeGreaterThan(900)
  })

  it('the silence is longer after words without a full stop, once the recogniser has written some', () => {
    const endpointer = adaptive()
    const sentence = silence('we came here by train yesterday')
    const before = endpointer.silenceNeeded(sentence, 1)
    for (let i = 0; i < 3; i++) endpointer.learnText(wordsOf('I have a question, please.'))
    expect(endpointer.silenceNeeded(sentence, 1)).toBeGreaterThan(before + 200)
    for (let i = 0; i < 4; i++) endpointer.learnText(wordsOf('i have a question'))
    expect(endpointer.silenceNeeded(sentence, 1)).toBe(before)
  })

  it('a first name without a full stop waits for the last name, once the recogniser has written full stops', () => {
    const endpointer = adaptive()
    endpointer.expect({ kind: 'name', isFull: false })
    const needed = (text: string) => endpointer.silenceNeeded(silence(text), 1)
    expect(needed('My name is Grace')).toBeLessThan(300)
    for (let i = 0; i < 2; i++) endpointer.learnText(wordsOf('I am new here.'))
    endpointer.expect({ kind: 'name', isFull: false })
    expect(needed('My name is Grace')).toBeGreaterThan(900)
    expect(needed('My name is Grace Hopper.')).toBeLessThan(300)
  })

  it('the silence that ends a turn lies between 200 ms and 5 s for any evidence', () => {
    const endpointer = adaptive()
    for (let i = 0; i < 50; i++) endpointer.learnPause(60_000)
    for (const text of ['yes', 'um', 'my card number is 4', 'let me see'])
      for (const responsiveness of [0, 1])
        for (const endOfTurn of [null, { confidence: 1, eager: false }, { confidence: 0, eager: false }]) {
          const ms = endpointer.silenceNeeded(silence(text, { endOfTurn }), responsiveness)
          expect(ms).toBeGreaterThanOrEqual(200)
          expect(ms).toBeLessThanOrEqual(5000)
        }
  })

  it('the silence adapts to a caller’s pauses slowly: each pause has a weight of one tenth', () => {
    const [endpointer, slow] = [adaptive(), adaptive()]
    const sentence = silence('I would like to')
    slow.learnPause(1500)
    const step = slow.silenceNeeded(sentence, 1) - endpointer.silenceNeeded(sentence, 1)
    expect(step).toBeGreaterThan(100)
    expect(step).toBeLessThan(500)
    slow.learnPause(150)
    expect(slow.silenceNeeded(sentence, 1) - endpointer.silenceNeeded(sentence, 1)).toBe(step)
  })
})
