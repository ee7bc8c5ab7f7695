import { describe, expect, it } from 'vitest'
import { cached } from './cached.ts'
import type { SpeechRequest, TextToSpeech } from './text-to-speech.ts'

/** Two chunks of 100 samples for each utterance, and a count of how often it had to work. */
function countingVoice() {
  const made: string[] = []
  const voice: TextToSpeech = {
    id: 'test/counting',
    languages: ['en'],
    readiness: async () => null,
    async *synthesize({ text }, signal) {
      made.push(text)
      for (let i = 0; i < 2; i++) {
        if (signal.aborted) return
        yield { samples: new Int16Array(100).fill(text.length + i), words: [] }
      }
    },
    close: async () => {},
  }
  return { voice, made }
}

async function listen(voice: TextToSpeech, request: Partial<SpeechRequest>, stopAfter = Number.POSITIVE_INFINITY) {
  const controller = new AbortController()
  const heard: number[][] = []
  for await (const { samples } of voice.synthesize({ text: 'hello', language: 'en', ...request }, controller.signal)) {
    heard.push([...samples])
    // What became of the audio afterwards is the consumer's business.
    samples.fill(0)
    if (heard.length === stopAfter) controller.abort()
  }
  return heard
}

describe('a voice with a memory', () => {
  it('makes the same utterance once, and says it the same ever after', async () => {
    const { voice, made } = countingVoice()
    const remembering = cached(voice)
    const first = await listen(remembering, {})
    expect(await listen(remembering, {})).toEqual(first)
    expect(await listen(remembering, {})).toEqual(first)
    expect(made).toEqual(['hello'])
  })

  it('sends nobody what it remembers', async () => {
    const { voice } = countingVoice()
    const telling: TextToSpeech = {
      ...voice,
      synthesize(request, signal) {
        request.onSent?.(request.text.length)
        return voice.synthesize(request, signal)
      },
    }
    const remembering = cached(telling)
    const sent: number[] = []
    for (let times = 0; times < 3; times++) await listen(remembering, { onSent: count => sent.push(count) })
    expect(sent).toEqual(['hello'.length])
  })

  it('tells voices, speeds and texts apart', async () => {
    const { voice, made } = countingVoice()
    const remembering = cached(voice)
    for (const request of [{}, { voice: 'a' }, { voice: 'b' }, { speed: 2 }, { text: 'hullo' }]) {
      await listen(remembering, request)
      await listen(remembering, request)
    }
    expect(made.length).toBe(5)
  })

  it('keeps no utterance that was stopped half way', async () => {
    const { voice, made } = countingVoice()
    const remembering = cached(voice)
    expect((await listen(remembering, {}, 1)).length).toBe(1)
    expect((await listen(remembering, {})).length).toBe(2)
    expect(made.length).toBe(2)
    expect((await listen(remembering, {}, 1)).length).toBe(1)
  })

  it('stays within its bytes by forgetting what was not asked for longest', async () => {
    const { voice, made } = countingVoice()
    const remembering = cached(voice, { maxBytes: 2000 })
    for (const text of ['a', 'b', 'a', 'c']) await listen(remembering, { text })
    expect(made).toEqual(['a', 'b', 'c'])
    await listen(remembering, { text: 'a' })
    expect(made).toEqual(['a', 'b', 'c'])
    await listen(remembering, { text: 'b' })
    expect(made).toEqual(['a', 'b', 'c', 'b'])
  })

  it('does not try to keep what is larger than all of it', async () => {
    const { voice, made } = countingVoice()
    const remembering = cached(voice, { maxBytes: 300 })
    await listen(remembering, {})
    expect((await listen(remembering, {})).length).toBe(2)
    expect(made.length).toBe(2)
  })
})
