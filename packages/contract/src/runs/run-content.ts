import { text } from '@parley/nodes'
import { z } from 'zod'
import { runState } from '../agents/agent-summary.ts'
import { operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'
import { recording, transcript, utterance } from './content.ts'
import { effectRecord } from './effect.ts'
import { byRunId } from './runs.ts'
import { timelineItem } from './timeline.ts'

const ofRun = '/api/v1/runs/{run_id}'

const messageRun = operation({
  id: 'runs.message',
  method: 'POST',
  path: `${ofRun}/messages`,
  summary: "Send a message to a chat run and get the agent's reply",
  role: 'member',
  idempotency: 'required_header',
  params: byRunId,
  query: null,
  body: z.strictObject({ text: text(1, 8000) }),
  output: z.strictObject({ run_id: uuid, state: runState, utterances: z.array(utterance) }),
  statuses: [200],
  refusals: {
    conflict: ['turn_in_progress'],
    run_not_active: ['run_ended'],
    capability_unavailable: ['mode_not_supported'],
  },
  kind: 'external',
  resumable: true,
})

const reading = {
  method: 'GET',
  role: 'viewer',
  idempotency: 'none',
  params: byRunId,
  body: null,
  statuses: [200],
  refusals: {},
} as const

/** The id of the run's trace in OpenTelemetry, 32 hexadecimal digits; also in webhooks and logs. */
export const traceId = z.string().regex(/^[0-9a-f]{32}$/, '32 lower-case hex digits')

const runTimeline = operation({
  ...reading,
  id: 'runs.timeline',
  path: `${ofRun}/timeline`,
  summary: 'Read what happened in a run, in order, with the latency of each turn',
  query: listQuery({}),
  output: page(timelineItem).extend({
    run_id: uuid,
    trace_id: traceId,
  }),
})

/**
 * The items of the timeline as they are written: `id` is `seq`, `event` is `kind`, `data` is the item; a comment
 * follows every 15 s. After the terminal state comes `event: end`; for an ended run the stream replays all items and
 * ends. `Last-Event-ID` resumes after that item; if no such item exists, the stream begins with the first.
 */
export const runEvents = operation({
  ...reading,
  id: 'runs.events',
  path: `${ofRun}/events`,
  summary: 'Follow a live run (server-sent events); Last-Event-ID resumes without gaps or duplicates',
  query: null,
  output: timelineItem,
  tool: null,
  media: 'text/event-stream',
  refusals: { rate_limited: ['streams'], provider_unavailable: [] },
})

const runEffects = operation({
  ...reading,
  id: 'runs.effects',
  path: `${ofRun}/effects`,
  summary: 'Read the side effects of a run: requests, calls, transfers, model inference, with their receipts',
  query: null,
  output: z.strictObject({ items: z.array(effectRecord) }),
})

/** A SIP message that was sent or received. */
const sipMessage = z
  .strictObject({
    at: timestamp,
    /** `in`: received from the far end. */
    direction: z.enum(['in', 'out']),
    transport: z.enum(['udp', 'tcp', 'tls']),
    /** `address:port` */
    source: text(1),
    destination: text(1),
    /** Start line, headers and body; credentials and keys are "[redacted]". */
    message: text(1),
  })
  .meta({ id: 'SipMessage' })

const runLadder = operation({
  ...reading,
  id: 'runs.ladder',
  path: `${ofRun}/ladder`,
  summary: "Read the SIP messages of a run's call, in order, without credentials and keys",
  query: null,
  output: z.strictObject({
    items: z.array(sipMessage),
    /** Further messages were not kept: a run keeps 200 messages and 256 KiB. */
    truncated: z.boolean(),
  }),
})

const runTranscript = operation({
  ...reading,
  id: 'runs.transcript',
  path: `${ofRun}/transcript`,
  summary: 'Read the transcript of a run; the words of the agent include only those that were played',
  query: null,
  output: transcript,
})

const runRecording = operation({
  ...reading,
  id: 'runs.recording',
  path: `${ofRun}/recording`,
  summary: 'Read the state of the audio recording of a call and get new links to listen to it',
  query: null,
  output: recording,
  auditsReads: true,
})

export const runContentOperations = [
  messageRun,
  runTimeline,
  runEffects,
  runLadder,
  runTranscript,
  runRecording,
] as const
