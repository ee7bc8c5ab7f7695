import { NARROWBAND, type ParleyError, VirtualTime } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { ProviderError } from '@parley/providers/testing'
import { describe, expect, it } from 'vitest'
import { heardOf } from './heard-text.ts'
import { type VoiceFailure, Voices } from './voices.ts'

/** A voice with chunks of one word and 100 ms. It fails before the given word of each attempt. */
function voice(
  id: string,
  failures: readonly (number | null)[],
  options: { retryable?: boolean; words?: boolean } = {},
) {
  const asked: string[] = []
  const script = [...failures]
  const port: TextToSpeech = {
    id,
    languages: ['en'],
    readiness: async () => null,
    async *synthesize({ text }) {
      asked.push(text)
      const failsAt = script.shift() ?? null
      for (const [i, word] of text.split(' ').entries()) {
        if (i === failsAt)
          throw new ProviderError('voice_unreachable', `${id} broke`, { retryable: options.retryable ?? true })
        const words = options.words === false ? [] : [{ text: word, startMs: i * 100 }]
        yield { samples: new Int16Array(800), words }
      }
    },
    close: async () => {},
  }
  return { choice: { voice: port, language: 'en', voiceId: null }, asked }
}

async function speak(choices: readonly ReturnType<typeof voice>[], text = 'one two three four') {
  const troubles: VoiceFailure[] = []
  const voices = new Voices(
    choices.map(({ choice }) => choice),
    NARROWBAND,
    new VirtualTime(),
    trouble => troubles.push(trouble),
  )
  const said: string[] = []
  let samples = 0
  const render = async (what: string) => {
    for await (const chunk of voices.render(what, 1, new AbortController().signal)) {
      samples += chunk.samples.length
      said.push(...chunk.words.map(word => `${word.text}@${word.startMs}`))
    }
  }
  const failure = await render(text).then(
    () => null,
    (error: ParleyError) => error.code,
  )
  return { render, said, failure, samples, remedies: troubles.map(({ remedy }) => remedy) }
}

describe('a voice of a call that fails', () => {
  it('a voice that fails twice without a complete sentence in between is not asked a third time', async () => {
    const remedies: string[] = []
    const failing = voice('a', [0, 1, 0])
    const voices = new Voices([failing.choice], NARROWBAND, new VirtualTime(), ({ remedy }) => remedies.push(remedy))
    const cut = new AbortController()
    for await (const _ of voices.render('one two three', 1, cut.signal)) cut.abort()
    await expect(voices.render('four five', 1, new AbortController().signal).next()).rejects.toThrow('a broke')
    expect(remedies).toEqual(['asked-again', 'gave-up'])
  })

  it('before its first audio is asked once more', async () => {
    const first = voice('a', [0])
    const { said, remedies, failure } = await speak([first])
    expect(first.asked).toHaveLength(2)
    expect(said).toEqual(['one@0', 'two@100', 'three@200', 'four@300'])
    expect(remedies).toEqual(['asked-again'])
    expect(failure).toBe(null)
  })

  it('a voice that fails twice is replaced by the next one for the rest of the call', async () => {
    const [first, second] = [voice('a', [0, 0]), voice('b', [])]
    const { render, remedies } = await speak([first, second])
    expect(remedies).toEqual(['asked-again', 'next-voice'])
    await render('five six')
    expect(first.asked).toHaveLength(2)
    expect(second.asked).toEqual(['one two three four', 'five six'])
  })

  it('a voice that fails in the middle of a sentence is replaced by the next one from the interrupted word on', async () => {
    const [first, second] = [voice('a', [2]), voice('b', [])]
    const { said, samples } = await speak([first, second])
    expect(second.asked).toEqual(['two three four'])
    expect(said).toEqual(['one@0', 'two@100', 'three@300', 'four@400'])
    expect(samples).toBe(4000)
  })

  it('a voice that fails in the middle of a sentence leaves each word once in the report of a later interruption', async () => {
    const text = 'one two three four'
    const { said } = await speak([voice('a', [2]), voice('b', [])], text)
    const words = said.map(word => ({ text: word.split('@')[0]!, startMs: Number(word.split('@')[1]) }))
    const sentence = { text, samples: 4000, complete: false, words }
    // The next voice repeats "two" from 200 ms on.
    expect(heardOf(sentence, 8 * 250, NARROWBAND)).toBe('one')
    expect(heardOf(sentence, 8 * 450, NARROWBAND)).toBe('one two three')
  })

  it('a voice that fails in the middle of a sentence is asked once for the rest if it is the last voice', async () => {
    const only = voice('a', [2, null])
    const { said, remedies, failure } = await speak([only])
    expect(only.asked).toEqual(['one two three four', 'two three four'])
    expect(said).toEqual(['one@0', 'two@100', 'three@300', 'four@400'])
    expect(remedies).toEqual(['asked-again'])
    expect(failure).toBe(null)
    expect((await speak([voice('a', [2, 1])])).remedies).toEqual(['asked-again', 'gave-up'])
    expect((await speak([voice('a', [2], { retryable: false })])).remedies).toEqual(['gave-up'])
  })

  it('a voice that fails in the middle of a sentence is replaced from that word on, even if the next voice fails at once', async () => {
    const [first, second] = [voice('a', [3]), voice('b', [0, null])]
    const { said } = await speak([first, second])
    expect(second.asked).toEqual(['three four', 'three four'])
    expect(said).toEqual(['one@0', 'two@100', 'three@200', 'four@400'])
  })

  it('a voice that fails in two sentences at the same time is replaced once', async () => {
    const [first, second] = [voice('a', [1, 1], { retryable: false }), voice('b', [])]
    const remedies: string[] = []
    const voices = new Voices([first.choice, second.choice], NARROWBAND, new VirtualTime(), ({ remedy }) =>
      remedies.push(remedy),
    )
    const { signal } = new AbortController()
    const both = ['one two', 'three four'].map(text => voices.render(text, 1, signal))
    for (const chunks of both) await chunks.next()
    for (const chunks of both) for await (const _ of chunks);
    expect(second.asked).toEqual(['one two', 'three four'])
    expect(remedies).toEqual(['next-voice'])
  })

  it('without word times has the whole sentence said again', async () => {
    const [first, second] = [voice('a', [2], { words: false }), voice('b', [])]
    await speak([first, second])
    expect(second.asked).toEqual(['one two three four'])
  })

  it('with a permanent error is not asked again', async () => {
    const first = voice('a', [0], { retryable: false })
    const { failure, remedies } = await speak([first])
    expect(first.asked).toHaveLength(1)
    expect(failure).toBe('voice_unreachable')
    expect(remedies).toEqual(['gave-up'])
  })

  it('a voice that fails together with the last one ends the sentence after two attempts of each', async () => {
    const [first, second] = [voice('a', [0, 0]), voice('b', [0, 0])]
    const { failure, remedies } = await speak([first, second])
    expect(remedies).toEqual(['asked-again', 'next-voice', 'asked-again', 'gave-up'])
    expect(failure).toBe('voice_unreachable')
  })
})
