import type { ModelFault, StandInService } from '@parley/fakes'
import type { Ms } from '@parley/kernel'
import type { CallerTurn } from './patient-caller.ts'

const FAILING_RECOGNISERS = [
  'deepgram/nova-3',
  'deepgram/flux-general-en',
  'assemblyai/universal-streaming-english',
  'soniox/stt-rt-v5',
  'speechmatics/enhanced',
  'azure/conversation',
  'google/telephony',
] as const

export const FAILING_VOICES = [
  'elevenlabs/eleven_flash_v2_5',
  'cartesia/sonic-2',
  'deepgram/aura-2',
  'openai/gpt-4o-mini-tts',
  'azure/neural',
  'google/chirp3-hd',
] as const

const FAILING_MODELS = ['openai/gpt-4.1-mini', 'anthropic/claude-haiku-4-5', 'gemini/gemini-3.8-flash'] as const

const WAYS = ['refuse 401', 'refuse 429', 'mute', 'break-off', 'error', 'stall', 'garble'] as const
/** Models fail also by refusals with a short or a long Retry-After, by status 500 and by slow answers. */
const MODEL_WAYS = [...WAYS, 'refuse 429 for 1 s', 'refuse 429 for 60 s', 'refuse 500', 'slow'] as const
type Way = (typeof MODEL_WAYS)[number]

/** How a service fails in the middle of a call. */
export interface FailureRow {
  /** `vendor/model`. */
  readonly service: string
  readonly kind: 'recogniser' | 'voice' | 'model'
  readonly way: Way
  readonly lasts: 'once' | 'for good'
  /** Whether the agent has a fallback voice of another service. */
  readonly fallback: boolean
}

const SPEECH_ROWS: readonly FailureRow[] = WAYS.flatMap((way, w) =>
  (['once', 'for good'] as const).flatMap((lasts, l) =>
    [...FAILING_RECOGNISERS, ...FAILING_VOICES].map((service, s): FailureRow => {
      const kind = s < FAILING_RECOGNISERS.length ? 'recogniser' : 'voice'
      return { service, kind, way, lasts, fallback: kind === 'voice' && (s + w + l) % 2 === 0 }
    }),
  ),
)

const MODEL_ROWS: readonly FailureRow[] = MODEL_WAYS.flatMap(way =>
  (['once', 'for good'] as const).flatMap(lasts =>
    FAILING_MODELS.map((service): FailureRow => ({ service, kind: 'model', way, lasts, fallback: false })),
  ),
)

/** Every service with every failure; half of the voices have a fallback voice. */
export const FAILURE_ROWS: readonly FailureRow[] = [...SPEECH_ROWS, ...MODEL_ROWS]

const KEYS = '1042#'
/** A list of days or times; the apology of the agent begins "I have a …". */
const LIST = /I have (?!a\b)\w/i
/** The sentence from which the model extracts the day. */
const DAY = 'The second one, please.'

/**
 * The script of the caller: interrupts the greeting and both lists, and speaks while services fail. The clinic books one
 * appointment and hangs up.
 */
export const FAILURE_CALLER: readonly CallerTurn[] = [
  {
    after: /Hillside|Clinic|help|keys/i,
    waitMs: 300,
    act: { type: 'say', text: 'I would like to book an appointment, please.' },
  },
  { after: /patient number|press 0/i, waitMs: 500, act: { type: 'press', digits: KEYS } },
  { after: LIST, waitMs: 500, act: { type: 'say', text: DAY } },
  { after: LIST, waitMs: 500, act: { type: 'say', text: 'The first one.' } },
  { after: /shall I book|1 for yes/i, waitMs: 700, act: { type: 'say', text: 'Yes, please.' } },
]

/** Time from a recogniser's first audio to its failure: about when the caller answers the lists. */
const MID_CALL_MS: Ms = 13_000
/** Time from the start of a connection's first audio to its failure. */
const SOON_MS: Ms = 300
/** Additional delay of a slow model, within its time budget. */
const SLOW_MS: Ms = 3000
/** More failures than a call has requests. */
const PERMANENT_COUNT = 60

/** Plans the failures of a recogniser before the call; the first one is in the middle of the call. */
export function prepareFailure({ kind, way, lasts }: FailureRow, standIn: StandInService): void {
  if (kind !== 'recogniser') return
  const isFirst = way === 'break-off' || way === 'error' || way === 'stall'
  standIn.injectFaults(isFirst ? faults(way, MID_CALL_MS) : { type: 'break-off', afterMs: MID_CALL_MS })
  if (isFirst && lasts === 'once') return
  standIn.injectFaults(...times(lasts, faults(way, SOON_MS)))
}

/**
 * Makes voices fail after the caller has pressed keys, and models after the caller has named the day. Both work until then.
 */
export function failAtAct({ kind, way, lasts }: FailureRow, act: string, standIn: StandInService): void {
  if (kind === 'recogniser' || act !== (kind === 'voice' ? KEYS : DAY)) return
  const fault = faults(way, SOON_MS)
  // A failed preemptive request is discarded, so a model needs one failure more.
  standIn.injectFaults(...(kind === 'model' ? [fault] : []), ...times(lasts, fault))
  if (kind === 'voice') standIn.breakOff()
}

function times(lasts: FailureRow['lasts'], fault: ModelFault): ModelFault[] {
  return Array.from({ length: lasts === 'once' ? 1 : PERMANENT_COUNT }, () => fault)
}

function faults(way: Way, afterMs: Ms): ModelFault {
  switch (way) {
    case 'refuse 401':
      return { type: 'refuse', status: 401 }
    case 'refuse 429':
      return { type: 'refuse', status: 429 }
    case 'refuse 429 for 1 s':
      return { type: 'refuse', status: 429, retryAfterS: 1 }
    case 'refuse 429 for 60 s':
      return { type: 'refuse', status: 429, retryAfterS: 60 }
    case 'refuse 500':
      return { type: 'refuse', status: 500 }
    case 'slow':
      return { type: 'slow', afterMs: SLOW_MS }
    case 'mute':
    case 'garble':
      return { type: way }
    default:
      return { type: way, afterMs }
  }
}
