import type { Draft } from '@parley/flow'
import { draftOf, endNode, promptEdge, staticNode } from '../../../interop/conversation-flows.ts'

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
      [
        staticNode('story', LONG_STORY, { edges: [promptEdge('bye', 'end', 'The caller says goodbye')] }),
        endNode('end', 'Goodbye.'),
      ],
      {},
      RECORDED,
    ),
    /** Puts the call through at once. */
    switchboard: draftOf(
      [
        staticNode('hello', 'One moment.', { skip_response_edge: promptEdge('on', 'shop', 'Skip response') }),
        {
          id: 'shop',
          type: 'transfer_call',
          transfer_destination: { type: 'predefined', number: target },
          edge: promptEdge('failed', 'nobody', 'Transfer failed'),
        },
        endNode('nobody', 'Nobody is there.'),
      ],
      {},
      RECORDED,
    ),
    /** Says a word and hangs up. */
    leaver: draftOf(
      [
        staticNode('hello', 'Good day.', { skip_response_edge: promptEdge('on', 'end', 'Skip response') }),
        endNode('end', 'Goodbye.'),
      ],
      {},
      RECORDED,
    ),
  } satisfies Record<string, Draft>
}

/** Says nothing, and listens until somebody hangs up. */
export const LISTENER = draftOf(
  [
    staticNode('listen', 'Yes?', { edges: [promptEdge('bye', 'end', 'The caller says goodbye')] }),
    endNode('end', 'Goodbye.'),
  ],
  { start_speaker: 'user' },
  { settings: PATIENT, recording: { required: false, channels: 'dual', signed_urls: true } },
)
