import { NARROWBAND } from '@parley/kernel'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SpeechRequest, TextToSpeech } from '../../text-to-speech/text-to-speech.ts'
import { TonesVoice } from './tones-voice.ts'

const SECOND_OF_TONE = Int16Array.from({ length: 8000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 300 * i) / 8000))

/** A speaker that completes a sentence only when the test says so. */
function slowSpeaker() {
  const asked: string[] = []
  const gates: (() => void)[] = []
  const voice: TextToSpeech = {
    id: 'slow',
    languages: ['en'],
    formats: [NARROWBAND],
    readiness: async () => null,
    async *synthesize({ text }: SpeechRequest) {
      asked.push(text)
      await new Promise<void>(resolve => gates.push(resolve))
      yield { samples: SECOND_OF_TONE.slice(), words: [] }
    },
    close: async () => {},
  }
  /** Completes the sentence that was asked for as number `index`. */
  const complete = async (index: number) => {
    await expect.poll(() => gates.length).toBeGreaterThan(index)
    gates[index]!()
  }
  const tones = new TonesVoice({ speakers: { en: { voice, voices: [] } } })
  onTestFinished(() => tones.close())
  return { tones, asked, complete }
}

async function spoken(tones: TonesVoice, text: string): Promise<number> {
  let samples = 0
  for await (const chunk of tones.synthesize({ text, language: 'en' }, new AbortController().signal))
    samples += chunk.samples.length
  return samples
}

describe('the simulated voice that prepares the texts of an agent', () => {
  it('the simulated voice that prepares the texts of an agent speaks the sentence of a call before all texts that still wait to be prepared', async () => {
    const { tones, asked, complete } = slowSpeaker()
    tones.warm({ language: 'en', texts: ['Number one.', 'Number two.', 'Number three.'] })
    const call = spoken(tones, 'Hello.')
    await complete(1)
    expect(await call).toBeGreaterThan(0)
    expect(asked).toEqual(['Number one.', 'Hello.'])
    await complete(0)
    await complete(2)
    await complete(3)
    await expect.poll(() => asked).toEqual(['Number one.', 'Hello.', 'Number two.', 'Number three.'])
  })

  it('the simulated voice that prepares the texts of an agent speaks a text at once that a call needs while it waits to be prepared, and prepares it no second time', async () => {
    const { tones, asked, complete } = slowSpeaker()
    tones.warm({ language: 'en', texts: ['Number one.', 'Number two.', 'Number three.'] })
    const call = spoken(tones, 'Number three.')
    await complete(1)
    expect(await call).toBeGreaterThan(0)
    await complete(0)
    await complete(2)
    await expect.poll(() => asked).toEqual(['Number one.', 'Number three.', 'Number two.'])
    expect(await spoken(tones, 'Number two.')).toBeGreaterThan(0)
    expect(asked).toHaveLength(3)
  })
})
