import { errorOf, failureOf, type Inputs, type StoredFailure } from '@parley/conversation'
import type { AnswerInput, DialogueInput } from '@parley/dialogue'
import type { Language } from '@parley/flow'
import { NARROWBAND, type ParleyError, type Time } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { CallClock } from './call-clock.ts'
import { SpeechInput, type SpeechInputOptions } from './speech-input.ts'
import { ToneListener } from './tone-listener.ts'
import { languageOf, recognitionOf, type VoiceAgent } from './voice-agent.ts'

interface RecogniserFailure {
  readonly failure: StoredFailure
  readonly isFatal: boolean
}

/** What a conversation requests of the caller's speech. */
export type SpeechInputPort = Pick<
  SpeechInput,
  'drain' | 'listenEarly' | 'answered' | 'finalize' | 'setLanguage' | 'close'
>

export type CreateSpeechInput = (options: SpeechInputOptions) => SpeechInputPort

interface CallSpeechInputOptions {
  readonly agent: VoiceAgent
  readonly leg: CallLeg
  readonly clock: CallClock
  readonly time: Time
  readonly inputs: Inputs
  /** What the agent can speak and understand, the language of the beginning first. */
  readonly languages: readonly Language[]
  /** Default: the speech of the leg. */
  readonly create: CreateSpeechInput | undefined
  readonly onHeard: (input: DialogueInput) => void
  /** The recogniser detected this language (BCP 47). */
  readonly onLanguage: (language: string) => void
  readonly onTone: (tone: AnswerInput) => void
  /** Whether tones are still of use. */
  readonly listensForTones: () => boolean
  readonly onFailure: (error: ParleyError, isFatal: boolean) => void
}

/** The speech and the tones of a call's far end. All that they report enters through `inputs`. */
export function callSpeechInput(options: CallSpeechInputOptions): SpeechInputPort {
  const { agent, leg, clock, time, inputs, languages, listensForTones } = options
  const ratio = leg.format.sampleRateHz / NARROWBAND.sampleRateHz
  const tones = new ToneListener(position => clock.timeOf(position * ratio), inputs.input('tone', options.onTone))
  const onFailure = inputs.input('recogniser-failure', ({ failure, isFatal }: RecogniserFailure) =>
    options.onFailure(errorOf(failure), isFatal),
  )
  const create = options.create ?? (wanted => new SpeechInput(wanted))
  return create({
    leg,
    recognisers: [agent.recogniser, ...(agent.fallbackRecognisers ?? [])],
    speechBand: agent.speechBand,
    language: languageOf(agent),
    otherLanguages: languages.slice(1),
    onLanguage: inputs.input('language', options.onLanguage),
    keywords: agent.plan.settings.boostedKeywords,
    recognition: recognitionOf(agent.plan),
    clock,
    time,
    onHeard: inputs.input('heard', options.onHeard),
    onAudio: (position, audio, count) => {
      if (listensForTones()) tones.hear(position, audio, count)
    },
    isTone: () => tones.isSounding,
    onFailure: (error, isFatal) => onFailure({ failure: failureOf(error), isFatal }),
  })
}
