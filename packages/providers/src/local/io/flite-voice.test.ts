import { expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { LocalFlite } from './flite-voice.ts'

await textToSpeechConformance(() => new LocalFlite())

it('the Flite voice speaks options, paths and markup as words and never runs them as commands', async () => {
  const voice = new LocalFlite()
  onTestFinished(() => voice.close())
  for (const text of ['--help', '-f /etc/passwd', '<speak>hi</speak>', 'a\0b', 'naïve café', '!!!']) {
    let samples = 0
    const speech = voice.synthesize({ text, language: 'en-US' }, new AbortController().signal)
    for await (const chunk of speech) samples += chunk.samples.length
    if (text === '!!!') expect(samples).toBe(0)
    else expect(samples).toBeGreaterThan(800)
  }
})

it('the Flite voice refuses utterances with a retryable error when too many wait', async () => {
  const voice = new LocalFlite({ maxWaiting: 1 })
  onTestFinished(() => voice.close())
  const speak = async () => {
    for await (const _chunk of voice.synthesize({ text: 'One.', language: 'en' }, new AbortController().signal));
  }
  const results = await Promise.allSettled([speak(), speak(), speak()])
  expect(results.map(result => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(results[2]).toMatchObject({ reason: { code: 'voice_busy', retryable: true } })
})
