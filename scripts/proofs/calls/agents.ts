import type { Draft } from '@parley/flow'
import { draftOf, endNode, promptEdge, staticNode } from '../../../interop/conversation-flows.ts'

/** Takes longer to speak than any call of the proofs lasts. */
const LONG_STORY = Array.from(
  { length: 40 },
  (_, index) => `This is sentence number ${index + 1} of a story that goes on for a long time.`,
).join(' ')

const PATIENT = { reminderMaxCount: 0, endCallAfterSilenceMs: 600_000, maxCallDurationMs: 1_800_000 } as const
const RECORDED = { settings: PATIENT, recording: { required: true, channels: 'dual', signed_urls: true } } as const

/** Name of an agent of the proofs. */
export type ProofAgent = keyof ReturnType<typeof proofAgents>

/** `target`: number that calls are transferred to. */
export function proofAgents(target: string) {
  return {
    /** Speaks until the far end hangs up. */
    talker: draftOf(
      [
        staticNode('story', LONG_STORY, { edges: [promptEdge('bye', 'end', 'The caller says goodbye')] }),
        endNode('end', 'Goodbye.'),
      ],
      {},
      RECORDED,
    ),
    /** Transfers the call at once. */
    switchboard: draftOf(
      [
        staticNode('hello', 'One moment.', { skip_response_edge: promptEdge('on', 'transfer', 'Skip response') }),
        {
          id: 'transfer',
          type: 'transfer_call',
          transfer_destination: { type: 'predefined', number: target },
          edge: promptEdge('failed', 'nobody', 'Transfer failed'),
        },
        endNode('nobody', 'Nobody is there.'),
      ],
      {},
      RECORDED,
    ),
    /** Speaks one sentence and hangs up. */
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

/** Stays silent and listens until the far end hangs up. */
export const LISTENER = draftOf(
  [
    staticNode('listen', 'Yes?', { edges: [promptEdge('bye', 'end', 'The caller says goodbye')] }),
    endNode('end', 'Goodbye.'),
  ],
  { start_speaker: 'user' },
  { settings: PATIENT, recording: { required: false, channels: 'dual', signed_urls: true } },
)
