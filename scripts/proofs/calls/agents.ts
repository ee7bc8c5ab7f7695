import type { Draft } from '@parley/flow'
import { bye, draftOf, says, when } from '../../../interop/conversation-flows.ts'

/** Nobody hears more than a few seconds of it. */
const LONG_STORY = Array.from(
  { length: 40 },
  (_, index) => `This is sentence number ${index + 1} of a story that goes on for a long time.`,
).join(' ')

const PATIENT = { reminderMaxCount: 0, endCallAfterSilenceMs: 600_000, maxCallDurationMs: 1_800_000 } as const
const RECORDED = { settings: PATIENT, recording: { required: true, channels: 'dual', signed_urls: true } } as const

/** Whom a call of the proofs is with, by what it does. */
export type ProofAgent = keyof ReturnType<typeof proofAgents>

/** `target`: whom a call is put through to. */
export function proofAgents(target: string) {
  return {
    /** Talks until somebody hangs up. */
    talker: draftOf(
      [says('story', LONG_STORY, { edges: [when('bye', 'end', 'The caller says goodbye')] }), bye('end', 'Goodbye.')],
      {},
      RECORDED,
    ),
    /** Puts the call through at once. */
    switchboard: draftOf(
      [
        says('hello', 'One moment.', { skip_response_edge: when('on', 'shop', 'Skip response') }),
        {
          id: 'shop',
          type: 'transfer_call',
          transfer_destination: { type: 'predefined', number: target },
          edge: when('failed', 'nobody', 'Transfer failed'),
        },
        bye('nobody', 'Nobody is there.'),
      ],
      {},
      RECORDED,
    ),
    /** Says a word and hangs up. */
    leaver: draftOf(
      [says('hello', 'Good day.', { skip_response_edge: when('on', 'end', 'Skip response') }), bye('end', 'Goodbye.')],
      {},
      RECORDED,
    ),
  } satisfies Record<string, Draft>
}

/** Says nothing, and listens until somebody hangs up. */
export const LISTENER = draftOf(
  [says('listen', 'Yes?', { edges: [when('bye', 'end', 'The caller says goodbye')] }), bye('end', 'Goodbye.')],
  { start_speaker: 'user' },
  { settings: PATIENT, recording: { required: false, channels: 'dual', signed_urls: true } },
)
