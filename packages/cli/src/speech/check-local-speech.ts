import { systemTime } from '@parley/kernel'
import { PhoneVoice } from '@parley/phone'
import { vendorCatalogue } from '@parley/providers'
import type { Settings } from '../environment.ts'
import { CliError } from '../errors.ts'
import { CHECK_SENTENCE, CHECK_TIMEOUT_MS, transcribe } from '../service-check.ts'
import { startLocalSpeech } from './local-speech.ts'

/** Lets the installed voice say a sentence to the installed recogniser. Throws `CliError` "speech_failed" if it is not understood. */
export async function* checkLocalSpeech(settings: Settings): AsyncGenerator<string> {
  const { local_stt: _stt, local_tts: _tts, ...vendors } = settings.vendors
  const problems: string[] = []
  const local = await startLocalSpeech({ ...settings, vendors }, line => problems.push(line))
  try {
    const { stt, tts } = vendorCatalogue(local.settings.vendors, systemTime)
    const recogniser = stt.find(({ vendor }) => vendor.name === 'local_stt')
    const voice = tts.find(({ vendor }) => vendor.name === 'local_tts')
    if (problems.length > 0 || recogniser?.open == null || voice?.open == null)
      throw new CliError('speech_failed', problems.join(' ') || 'The installed speech servers did not start.')
    const speaker = voice.open(voice.models[0]!)
    const listener = recogniser.open(recogniser.models[0]!)
    try {
      const began = performance.now()
      const audio = await new PhoneVoice(speaker, 'en').render(CHECK_SENTENCE)
      yield `The voice said "${CHECK_SENTENCE}" (rendered in ${Math.round(performance.now() - began)} ms).`
      const { text, ms } = await transcribe(listener, audio, AbortSignal.timeout(CHECK_TIMEOUT_MS))
      if (text === '') throw new CliError('speech_failed', 'The recogniser returned no words for the sentence.')
      yield `The recogniser understood "${text}" (in ${Math.round(ms)} ms).`
    } finally {
      await speaker.close()
      await listener.close()
    }
  } finally {
    await local.close()
  }
}
