import { systemTime } from '@parley/kernel'
import { type SpeechToText, type TextToSpeech, TonesRecogniser, TonesVoice, vendorCatalogue } from '@parley/providers'
import type { Settings } from '../environment.ts'

/** With what a virtual phone speaks and hears. */
interface PhoneSpeech {
  readonly voice: TextToSpeech
  readonly recogniser: SpeechToText
}

/**
 * Local servers where there are both kinds for the language, because agents then use them: a recogniser of speech does not expect the
 * tones of the built-in voice, and the built-in recogniser needs them. `language`: BCP 47.
 */
export function phoneSpeech(vendors: Settings['vendors'], language: string): PhoneSpeech {
  const tag = language.toLowerCase().split('-')[0]!
  const knowsLanguage = (name: string) => vendors[name]?.languages?.includes(tag) ?? name in vendors
  if (knowsLanguage('local_stt') && knowsLanguage('local_tts')) {
    const { stt, tts } = vendorCatalogue(vendors, systemTime)
    const listening = stt.find(({ vendor }) => vendor.name === 'local_stt')
    const speaking = tts.find(({ vendor }) => vendor.name === 'local_tts')
    const recogniser = listening?.open?.(listening.models[0]!)
    const voice = speaking?.open?.(speaking.models[0]!)
    if (recogniser !== undefined && voice !== undefined) return { voice, recogniser }
  }
  return { voice: new TonesVoice(), recogniser: new TonesRecogniser() }
}
