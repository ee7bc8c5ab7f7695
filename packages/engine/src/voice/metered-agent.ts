import type { UsageReport } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { SpeechStream, SpeechStreamOptions, SpeechToText, TextToSpeech } from '@parley/providers'
import type { VoiceChoice } from './utterance-audio.ts'
import type { VoiceAgent } from './voice-agent.ts'

type OnUsage = (usage: UsageReport) => void

/** Recognised audio is reported in amounts of at least this, and the rest at the end: one report per packet would be too many. */
const REPORT_EVERY_MS: Ms = 10_000

/** The agent for one call with usage metering of its recogniser and voices; the conversation meters the models. */
export function meteredAgent(agent: VoiceAgent, onUsage: OnUsage): VoiceAgent {
  const metered = (choice: VoiceChoice): VoiceChoice => ({ ...choice, voice: meteredVoice(choice.voice, onUsage) })
  return {
    ...agent,
    recogniser: meteredRecogniser(agent.recogniser, onUsage),
    voice: meteredVoice(agent.voice, onUsage),
    ...(agent.fallbackRecognisers && {
      fallbackRecognisers: agent.fallbackRecognisers.map(recogniser => meteredRecogniser(recogniser, onUsage)),
    }),
    ...(agent.fallbackVoices !== undefined && { fallbackVoices: agent.fallbackVoices.map(metered) }),
    ...(agent.lastResort !== undefined && { lastResort: metered(agent.lastResort) }),
  }
}

function meteredVoice(voice: TextToSpeech, onUsage: OnUsage): TextToSpeech {
  const service = serviceOf(voice.id)
  const onSent = (characters: number) => onUsage({ meter: 'tts_characters', ...service, quantity: characters })
  return {
    id: voice.id,
    languages: voice.languages,
    ...(voice.formats && { formats: voice.formats }),
    readiness: language => voice.readiness(language),
    synthesize: (request, signal) => voice.synthesize({ ...request, onSent }, signal),
    warm: request => voice.warm?.(request),
    ...(voice.writesPhonemes && { writesPhonemes: voice.writesPhonemes }),
    close: () => voice.close(),
  }
}

function meteredRecogniser(recogniser: SpeechToText, onUsage: OnUsage): SpeechToText {
  const service = serviceOf(recogniser.id)
  const report = (audioMs: Ms) => onUsage({ meter: 'stt_ms', ...service, quantity: audioMs })
  return {
    id: recogniser.id,
    languages: recogniser.languages,
    ...(recogniser.formats && { formats: recogniser.formats }),
    ...(recogniser.billsSilence !== undefined && { billsSilence: recogniser.billsSilence }),
    readiness: () => recogniser.readiness(),
    open: options => meteredStream(recogniser, options, report),
    close: () => recogniser.close(),
  }
}

function meteredStream(
  recogniser: SpeechToText,
  options: SpeechStreamOptions,
  report: (audioMs: Ms) => void,
): SpeechStream {
  let unreported: Ms = 0
  const reportRest = () => {
    if (unreported > 0) report(unreported)
    unreported = 0
  }
  const onSent = (audioMs: Ms) => {
    unreported += audioMs
    if (unreported >= REPORT_EVERY_MS) reportRest()
  }
  const stream = recogniser.open({ ...options, onSent })
  return {
    write: (samples, atSample) => stream.write(samples, atSample),
    voice: (type, atSample) => stream.voice?.(type, atSample),
    finalize: () => stream.finalize(),
    onEvent: listener => stream.onEvent(listener),
    close() {
      stream.close()
      reportRest()
    },
  }
}

/** Provider and model of a service id such as "deepgram/nova-3". */
function serviceOf(id: string): Pick<UsageReport, 'provider' | 'model_id'> {
  const [provider = '', ...model] = id.split('/')
  return { provider, model_id: model.join('/') }
}
