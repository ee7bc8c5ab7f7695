import type { Unkindness } from '@parley/fakes'
import type { Ms } from '@parley/kernel'
import type { StandIn, StandInName } from '../../../packages/cli/src/stand-ins.ts'
import type { CallerTurn } from './patient-caller.ts'

export const FAILING_EARS = [
  'deepgram/nova-3',
  'deepgram/flux-general-en',
  'assemblyai/universal-streaming-english',
] as const satisfies readonly StandInName[]

export const FAILING_VOICES = [
  'elevenlabs/eleven_flash_v2_5',
  'cartesia/sonic-2',
  'deepgram/aura-2',
  'openai/gpt-4o-mini-tts',
] as const satisfies readonly StandInName[]

export const WAYS = ['refuse 401', 'refuse 429', 'mute', 'break-off', 'error', 'stall', 'garble'] as const
export type Way = (typeof WAYS)[number]

/** How a service fails in the middle of a call. */
export interface FailureRow {
  readonly service: StandInName
  readonly kind: 'ear' | 'voice'
  readonly way: Way
  readonly lasts: 'once' | 'for good'
  /** The agent names another service's voice that may take over. */
  readonly fallback: boolean
}

/** Every service in every way; half of the voices have another to fall back on. */
export const FAILURE_ROWS: readonly FailureRow[] = WAYS.flatMap((way, w) =>
  (['once', 'for good'] as const).flatMap((lasts, l) =>
    [...FAILING_EARS, ...FAILING_VOICES].map((service, s): FailureRow => {
      const kind = s < FAILING_EARS.length ? 'ear' : 'voice'
      return { service, kind, way, lasts, fallback: kind === 'voice' && (s + w + l) % 2 === 0 }
    }),
  ),
)

const KEYS = '1042#'

/**
 * The caller's part: interrupts the greeting and both lists, and speaks while services fail. The clinic books one
 * appointment, and hangs up.
 */
export const FAILURE_CALLER: readonly CallerTurn[] = [
  {
    after: /Hillside|Clinic|help|keys/i,
    waitMs: 300,
    act: { type: 'say', text: 'I would like to book an appointment, please.' },
  },
  { after: /patient number|press 0/i, waitMs: 500, act: { type: 'press', digits: KEYS } },
  { after: /I have/i, waitMs: 500, act: { type: 'say', text: 'The second one, please.' } },
  { after: /I have/i, waitMs: 500, act: { type: 'say', text: 'The first one.' } },
  { after: /shall I book|1 for yes/i, waitMs: 700, act: { type: 'say', text: 'Yes, please.' } },
]

/** So long after a recogniser got its first audio: about when the caller answers the lists. */
const MID_CALL_MS: Ms = 13_000
/** Into the first thing that a connection says or hears. */
const SOON_MS: Ms = 300
const FOR_GOOD = 60

/** Before the call: what the connections of a recogniser are to meet, the first of them in mid-call. */
export function prepareFailure({ kind, way, lasts }: FailureRow, standIn: StandIn): void {
  if (kind !== 'ear') return
  const isFirst = way === 'break-off' || way === 'error' || way === 'stall'
  standIn.beUnkind(isFirst ? unkindness(way, MID_CALL_MS) : { type: 'break-off', afterMs: MID_CALL_MS })
  if (isFirst && lasts === 'once') return
  standIn.beUnkind(...times(lasts, unkindness(way, SOON_MS)))
}

/** Voices fail at what they say after the caller has pressed keys: until then every utterance was kind. */
export function failAtAct({ kind, way, lasts }: FailureRow, act: string, standIn: StandIn): void {
  if (kind !== 'voice' || act !== KEYS) return
  standIn.beUnkind(...times(lasts, unkindness(way, SOON_MS)))
  standIn.breakOff()
}

function times(lasts: FailureRow['lasts'], one: Unkindness): Unkindness[] {
  return Array.from({ length: lasts === 'once' ? 1 : FOR_GOOD }, () => one)
}

function unkindness(way: Way, afterMs: Ms): Unkindness {
  switch (way) {
    case 'refuse 401':
      return { type: 'refuse', status: 401 }
    case 'refuse 429':
      return { type: 'refuse', status: 429 }
    case 'mute':
    case 'garble':
      return { type: way }
    default:
      return { type: way, afterMs }
  }
}
