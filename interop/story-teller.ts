import { draftOf, promptEdge, staticNode } from './conversation-flows.ts'

/** Takes about a minute to say. */
const STORY = Array.from({ length: 16 }, (_, i) => `This is sentence ${i + 1} of a story that goes on.`).join(' ')
const PATIENT = { reminderMaxCount: 0, endCallAfterSilenceMs: 600_000, maxCallDurationMs: 600_000 } as const
/** Tells a story, and begins another one when it was interrupted. */
export const TELLER = draftOf(
  [
    staticNode('one', STORY, { always_edge: promptEdge('on', 'two', 'Always') }),
    staticNode('two', STORY, { always_edge: promptEdge('back', 'one', 'Always') }),
  ],
  {},
  { settings: PATIENT, recording: { required: true, channels: 'dual', signed_urls: true } },
)
