import { expect, it } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { LocalEspeak } from './espeak-voice.ts'

await textToSpeechConformance(() => new LocalEspeak())

it('the readiness of the eSpeak voice says how to install a missing program', async () => {
  const voice = new LocalEspeak({ command: 'espeak-ng-that-is-not-there' })
  expect(await voice.readiness()).toBe('espeak-ng is not installed (Debian: apt-get install espeak-ng)')
  const speech = voice.synthesize({ text: 'One.', language: 'en' }, new AbortController().signal)
  await expect(speech.next()).rejects.toMatchObject({ code: 'voice_failed' })
})
