import {
  type Divergence,
  InMemoryEffectLedger,
  type InputLog,
  type InputLogHeader,
  InputLogWriter,
  InputRecorder,
  InputReplay,
  microseconds,
  type TimelineItem,
  type Utterance,
} from '@parley/conversation'
import type { Endpointing } from '@parley/dialogue'
import type { Plan } from '@parley/flow'
import {
  type AudioFormat,
  type Ms,
  type Random,
  randomUint32,
  SeededRandom,
  type Time,
  type UnixMs,
} from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { LanguageModel, RealtimeModel, SpeechToText, TextToSpeech } from '@parley/providers'
import type { CallControl, CallHandlerResult } from '../call-handler.ts'
import type { VoiceChoice } from './utterance-audio.ts'
import type { VoiceAgent, VoiceCallFacts } from './voice-agent.ts'
import { VoiceConversation } from './voice-conversation.ts'

/** A voice as a log names it. */
interface StoredVoice {
  readonly id: string
  readonly languages: readonly string[]
  readonly formats: readonly AudioFormat[] | null
  readonly language: string | null
  readonly voiceId: string | null
}

/** What the log of a call says of its beginning. */
interface StoredCall {
  readonly format: AudioFormat
  readonly direction: CallLeg['direction']
  readonly facts: VoiceCallFacts
  readonly agentId: string | null
  readonly agentVersion: number | null
  readonly voice: StoredVoice
  readonly otherVoiceIds: NonNullable<VoiceAgent['otherVoiceIds']> | null
  /** Languages of the recognisers, in order of preference. */
  readonly recognisers: readonly (readonly string[])[]
  readonly fallbackVoices: readonly StoredVoice[]
  readonly lastResort: StoredVoice | null
  readonly fallbackModels: number
  readonly knowledge: boolean
  readonly refer: boolean | null
  /** Whether a speech-to-speech model hears and speaks. */
  readonly realtime: boolean
  readonly asksAhead: boolean
  readonly endpointing: Endpointing | null
}

/** Versions of the program, its lexicons and the plan. */
type InputLogVersions = Pick<InputLogHeader, 'code' | 'lexicon' | 'plan'>

interface RecordedCallOptions {
  readonly versions: InputLogVersions
  /** Its settings may have personal data redacted: the log then has placeholders. */
  readonly agent: VoiceAgent
  readonly leg: Pick<CallLeg, 'format' | 'direction'>
  readonly facts: VoiceCallFacts
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
}

/** The log of a call's inputs while it is written. */
export class RecordedCall {
  readonly inputs: InputRecorder
  readonly #log: InputLogWriter
  readonly #time: Time
  readonly #startedAtMs: Ms
  readonly #redacted: boolean

  constructor({ versions, agent, leg, facts, time, wallClock, random }: RecordedCallOptions) {
    const start = { seed: randomUint32(random), startedAt: wallClock(), startedAtMs: microseconds(time.now()) }
    const redacted = agent.plan.settings.redaction !== undefined
    const stored: StoredCall = {
      format: leg.format,
      direction: leg.direction,
      facts: redacted ? { call: facts.call } : facts,
      agentId: agent.agentId,
      agentVersion: agent.agentVersion,
      voice: storedVoice(agent.voice, null, agent.voiceId),
      otherVoiceIds: agent.otherVoiceIds ?? null,
      recognisers: [agent.recogniser, ...(agent.fallbackRecognisers ?? [])].map(({ languages }) => languages),
      fallbackVoices: (agent.fallbackVoices ?? []).map(storedChoice),
      lastResort: agent.lastResort === undefined ? null : storedChoice(agent.lastResort),
      fallbackModels: agent.fallbackModels?.length ?? 0,
      knowledge: agent.knowledge !== undefined,
      refer: agent.transfers?.refer ?? null,
      realtime: agent.realtime !== undefined,
      asksAhead: agent.asksAhead !== false,
      endpointing: agent.endpointing ?? null,
    }
    this.#time = time
    this.#startedAtMs = start.startedAtMs
    this.#redacted = redacted
    this.#log = new InputLogWriter({ ...start, ...versions, kind: 'call', redacted, facts: stored })
    this.inputs = new InputRecorder({ ...start, log: this.#log, time })
  }

  /** The log so far. */
  finish(): { readonly log: Uint8Array; readonly redacted: boolean } {
    this.inputs.close()
    return { log: this.#log.finish(this.#time.now() - this.#startedAtMs), redacted: this.#redacted }
  }
}

/** Logs the inputs of a call, so that it can be replayed. */
export interface CallRecording {
  readonly versions: InputLogVersions
  /** Called before the call begins. */
  readonly onRecorded: (recorded: RecordedCall) => void
}

/** The inputs of a call that is recorded. */
export function recordedInputs(
  { versions, onRecorded }: CallRecording,
  call: Omit<RecordedCallOptions, 'versions'>,
): InputRecorder {
  const recorded = new RecordedCall({ ...call, versions })
  onRecorded(recorded)
  return recorded.inputs
}

interface ReplayCallOptions extends NonNullable<ConstructorParameters<typeof InputReplay>[1]> {
  readonly log: InputLog
  readonly plan: Plan
  /** Default that of the recorded run. */
  readonly agent?: { readonly agentId: string; readonly agentVersion: number }
  /**
   * Finds a deterministic voice by the id of its service, and null for one that may speak differently each time. Where all voices of
   * the call are deterministic the replay makes the audio again and compares what is sent. Default: none is.
   */
  readonly voiceOf?: (id: string) => TextToSpeech | null
}

interface ReplayedCall extends Pick<CallHandlerResult, 'utterances' | 'timeline' | 'latencies'> {
  /** Null: everything happened as it was recorded. */
  readonly divergence: Divergence | null
  /** The samples of the sent audio were compared, not only its lengths. */
  readonly hasComparedAudio: boolean
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
}

/** Carries out a recorded call again, in virtual time: the same conversation, with inputs from the log and without services. */
export async function replayCall({ log, plan, agent, ...options }: ReplayCallOptions): Promise<ReplayedCall> {
  const stored = log.header.facts as StoredCall
  const voiceOf = options.compare === 'changed' ? noVoice : (options.voiceOf ?? noVoice)
  const comparesAudio = !stored.realtime && voicesOf(stored).every(({ id }) => voiceOf(id) !== null)
  const inputs = new InputReplay(log, { ...options, comparesAudio })
  const line: CallControl = {
    leg: silentLeg(stored),
    end: () => handler.stop(),
    addTimelineItem: () => {},
  }
  const handler: VoiceConversation = new VoiceConversation({
    agent: { ...storedAgent(stored, plan, inputs, comparesAudio ? voiceOf : noVoice), ...agent },
    facts: stored.facts,
    line,
    time: inputs.time,
    wallClock: inputs.wallClock,
    random: inputs.random,
    inputs,
    createSpeechInput: () => ({
      drain: () => {},
      listenEarly: () => {},
      answered: () => {},
      finalize: () => {},
      setLanguage: () => {},
      close: () => {},
    }),
  })
  const divergence = await inputs.run()
  const { utterances, timeline, latencies } = handler.result
  return { divergence, hasComparedAudio: comparesAudio, utterances, timeline, latencies }
}

function storedVoice(
  { id, languages, formats }: TextToSpeech,
  language: string | null,
  voiceId: string | null,
): StoredVoice {
  return { id, languages, formats: formats ?? null, language, voiceId }
}

function storedChoice({ voice, language, voiceId }: VoiceChoice): StoredVoice {
  return storedVoice(voice, language, voiceId)
}

/** The agent of a replay: its services are never asked, since their answers are in the log. */
function storedAgent(
  stored: StoredCall,
  plan: Plan,
  { wallClock }: InputReplay,
  voiceOf: NonNullable<ReplayCallOptions['voiceOf']>,
): VoiceAgent {
  const choice = (voice: StoredVoice): VoiceChoice => ({
    voice: replayedVoice(voice, voiceOf(voice.id)),
    language: voice.language ?? voice.languages[0]!,
    voiceId: voice.voiceId,
  })
  const { agentId, agentVersion, asksAhead, endpointing, lastResort, refer } = stored
  return {
    plan,
    agentId,
    agentVersion,
    recogniser: absentRecogniser(stored.recognisers[0]!),
    fallbackRecognisers: stored.recognisers.slice(1).map(absentRecogniser),
    voice: replayedVoice(stored.voice, voiceOf(stored.voice.id)),
    voiceId: stored.voice.voiceId,
    ...(stored.otherVoiceIds !== null && { otherVoiceIds: stored.otherVoiceIds }),
    fallbackVoices: stored.fallbackVoices.map(choice),
    ...(lastResort !== null && { lastResort: choice(lastResort) }),
    ...(stored.fallbackModels > 0 && {
      fallbackModels: Array.from({ length: stored.fallbackModels }, () => ABSENT_MODEL),
    }),
    model: () => ABSENT_MODEL,
    ledger: () => new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock }),
    actions: () => ({ run: absent }),
    ...(stored.knowledge && { knowledge: { search: absent } }),
    transferPolicy: () => ({ decision: 'deny', reason: null, policy_version: '1' }),
    ...(refer !== null && { transfers: { refer, written: number => number } }),
    ...(stored.realtime && { realtime: ABSENT_REALTIME }),
    preparesHoldingLines: voiceOf(stored.voice.id) !== null,
    asksAhead,
    ...(endpointing !== null && { endpointing }),
  }
}

/** When words are spoken comes from the log; how they sound from `voice`, or else they are silent. */
function replayedVoice({ id, languages, formats }: StoredVoice, voice: TextToSpeech | null): TextToSpeech {
  return {
    id,
    languages,
    ...(formats !== null && { formats }),
    readiness: async () => null,
    synthesize: (request, signal) => voice?.synthesize(request, signal) ?? noAudio(),
    close: async () => {},
  }
}

function absentRecogniser(languages: readonly string[]): SpeechToText {
  return { id: 'replay', languages, readiness: async () => null, open: absent, close: async () => {} }
}

const ABSENT_MODEL: LanguageModel = {
  identity: { provider: 'replay', model: 'replay' },
  readiness: async () => null,
  generate: absent,
  close: async () => {},
}

const ABSENT_REALTIME: RealtimeModel = {
  identity: ABSENT_MODEL.identity,
  languages: ['en'],
  voices: [],
  readiness: async () => null,
  open: () => ({ recogniser: absentRecogniser(['en']), model: ABSENT_MODEL, isOver: false, close: () => {} }),
  close: async () => {},
}

function voicesOf({ voice, fallbackVoices, lastResort }: StoredCall): StoredVoice[] {
  return [voice, ...fallbackVoices, ...(lastResort === null ? [] : [lastResort])]
}

async function* noAudio(): AsyncGenerator<never> {}

function noVoice(): null {
  return null
}

function absent(): never {
  throw new TypeError('a replay asks no service')
}

function silentLeg({ format, direction }: StoredCall): CallLeg {
  const leg: Partial<CallLeg> = {
    format,
    direction,
    peerHost: null,
    play: () => 0,
    flush: () => 0,
    played: () => 0,
    sendDigits: () => {},
    setBackground: () => {},
    transfer: () => {},
  }
  return leg as CallLeg
}
