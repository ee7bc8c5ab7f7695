import type { UsageReport } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import type { SpeechStream, SpeechStreamOptions, SpeechToText, TextToSpeech } from '@parley/providers'
import type { VoiceChoice } from './utterance-audio.ts'
import type { VoiceAgent } from './voice-agent.ts'

type OnUsage = (usage: UsageReport) => void

/** Audio is told in stretches of so much, and at the end: packets are too many to tell each. */
const STRETCH_MS: Ms = 10_000

/** The agent for one call, whose speechInput and voices tell what they were used for; its models are the conversation's business. */
export function meteredAgent(agent: VoiceAgent, onUsage: OnUsage): VoiceAgent {
  const metered = (choice: VoiceChoice): VoiceChoice => ({ ...choice, voice: meteredVoice(choice.voice, onUsage) })
  return {
    ...agent,
    recogniser: meteredRecogniser(agent.recogniser, onUsage),
    voice: meteredVoice(agent.voice, onUsage),
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
    readiness: language => voice.readiness(language),
    synthesize: (request, signal) => voice.synthesize({ ...request, onSent }, signal),
    warm: request => voice.warm?.(request),
    close: () => voice.close(),
  }
}

function meteredRecogniser(recogniser: SpeechToText, onUsage: OnUsage): SpeechToText {
  const service = serviceOf(recogniser.id)
  const tell = (audioMs: Ms) => onUsage({ meter: 'stt_ms', ...service, quantity: audioMs })
  return {
    id: recogniser.id,
    languages: recogniser.languages,
    ...(recogniser.formats && { formats: recogniser.formats }),
    readiness: () => recogniser.readiness(),
    open: options => meteredStream(recogniser, options, tell),
    close: () => recogniser.close(),
  }
}

function meteredStream(
  recogniser: SpeechToText,
  options: SpeechStreamOptions,
  tell: (audioMs: Ms) => void,
): SpeechStream {
  let untold: Ms = 0
  const tellAll = () => {
    if (untold > 0) tell(untold)
    untold = 0
  }
  const onSent = (audioMs: Ms) => {
    untold += audioMs
    if (untold >= STRETCH_MS) tellAll()
  }
  const stream = recogniser.open({ ...options, onSent })
  return {
    write: (samples, atSample) => stream.write(samples, atSample),
    finalize: () => stream.finalize(),
    onEvent: listener => stream.onEvent(listener),
    close() {
      stream.close()
      tellAll()
    },
  }
}

/** Of "deepgram/nova-3": whose, and what. */
function serviceOf(id: string): Pick<UsageReport, 'provider' | 'model_id'> {
  const [provider = '', ...model] = id.split('/')
  return { provider, model_id: model.join('/') }
}
