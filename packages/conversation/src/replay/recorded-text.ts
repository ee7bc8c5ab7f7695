import type { FlowMode, Plan } from '@parley/flow'
import { type Ms, SeededRandom, type Time, type UnixMs } from '@parley/kernel'
import type { ChatMessage } from '@parley/providers'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import type { CallFacts } from '../ports.ts'
import { TextSession } from '../text-session.ts'
import type { TimelineItem } from '../timeline.ts'
import { TimelineRecorder } from '../timeline-recorder.ts'
import type { Utterance } from '../transcript.ts'
import { type InputLog, type InputLogHeader, InputLogWriter } from './input-log.ts'
import { InputRecorder, microseconds } from './input-recorder.ts'
import { type Divergence, InputReplay } from './input-replay.ts'

/** What the log of a text conversation says of its beginning. */
interface StoredText {
  readonly mode: FlowMode
  readonly call: CallFacts
  readonly variables: Readonly<Record<string, string>>
  readonly knowledge: boolean
  /** What was heard in the conversation of the agent before. Default: nothing. */
  readonly history?: readonly ChatMessage[]
}

interface RecordedTextOptions {
  readonly versions: Pick<InputLogHeader, 'code' | 'lexicon' | 'plan'>
  readonly plan: Plan
  readonly text: StoredText
  readonly time: Time
  readonly wallClock: () => UnixMs
}

/** The log of a text conversation's inputs while it is written. */
export class RecordedText {
  readonly inputs: InputRecorder
  readonly #log: InputLogWriter
  readonly #time: Time
  readonly #startedAtMs: Ms
  readonly #redacted: boolean

  constructor({ versions, plan, text, time, wallClock }: RecordedTextOptions) {
    const start = { seed: 0, startedAt: wallClock(), startedAtMs: microseconds(time.now()) }
    const redacted = plan.settings.redaction !== undefined
    const { history: _, ...others } = text
    const facts: StoredText = redacted ? { ...others, variables: {} } : text
    this.#time = time
    this.#startedAtMs = start.startedAtMs
    this.#redacted = redacted
    this.#log = new InputLogWriter({ ...start, ...versions, kind: 'text', redacted, facts })
    this.inputs = new InputRecorder({ ...start, log: this.#log, time })
  }

  /** The log so far. */
  finish(): { readonly log: Uint8Array; readonly redacted: boolean } {
    this.inputs.close()
    return { log: this.#log.finish(this.#time.now() - this.#startedAtMs), redacted: this.#redacted }
  }
}

interface ReplayTextOptions extends NonNullable<ConstructorParameters<typeof InputReplay>[1]> {
  readonly log: InputLog
  readonly plan: Plan
}

interface ReplayedText {
  /** Null: everything happened as it was recorded. */
  readonly divergence: Divergence | null
  readonly utterances: readonly Utterance[]
  readonly timeline: readonly TimelineItem[]
}

/** Carries out a recorded text conversation again, with inputs from the log and without services. */
export async function replayText({ log, plan, ...options }: ReplayTextOptions): Promise<ReplayedText> {
  const inputs = new InputReplay(log, options)
  const { mode, call, variables, knowledge, history } = log.header.facts as StoredText
  const recorder = new TimelineRecorder(inputs.wallClock, () => null)
  const timeline: TimelineItem[] = []
  const { conversation } = new TextSession({
    plan,
    mode,
    variables: { run: variables },
    ...(history !== undefined && { history }),
    call,
    models: absent,
    actions: { run: absent },
    ...(knowledge && { knowledge: { search: absent } }),
    ledger: new InMemoryEffectLedger({ random: new SeededRandom(1), wallClock: inputs.wallClock }),
    transferPolicy: absent,
    time: inputs.time,
    wallClock: inputs.wallClock,
    inputs,
    onEvent: event => {
      if (event.type === 'fact') timeline.push(recorder.record(event.fact, event.offset_ms))
    },
  })
  const divergence = await inputs.run()
  return { divergence, utterances: conversation.utterances, timeline }
}

function absent(): never {
  throw new TypeError('a replay asks no service')
}
