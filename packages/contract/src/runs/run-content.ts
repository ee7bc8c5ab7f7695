import { text } from '@parley/nodes'
import { z } from 'zod'
import { runState } from '../agents/agent-summary.ts'
import { operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { recording, transcript, utterance } from './content.ts'
import { effectRecord } from './effect.ts'
import { byRunId } from './runs.ts'
import { timelineItem } from './timeline.ts'

const ofRun = '/api/v1/runs/{run_id}'

export const messageRun = operation({
  id: 'runs.message',
  method: 'POST',
  path: `${ofRun}/messages`,
  summary: "Say something in a chat run and get the agent's turn",
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

export const runTimeline = operation({
  ...reading,
  id: 'runs.timeline',
  path: `${ofRun}/timeline`,
  summary: 'Read what happened in a run, in order, with the latency of each turn',
  query: listQuery({}),
  output: page(timelineItem).extend({ run_id: uuid }),
})

/**
 * The items of the timeline as they come: `id` is `seq`, `event` is `kind`, `data` the item; a comment every 15 s. After
 * the terminal state comes `event: end`; on an ended run it replays and ends. `Last-Event-ID` goes on after that item; behind
 * one that there never was, it begins anew.
 */
export const runEvents = operation({
  ...reading,
  id: 'runs.events',
  path: `${ofRun}/events`,
  summary: 'Follow a run as it happens (server-sent events); Last-Event-ID resumes without gap or double',
  query: null,
  output: timelineItem,
  tool: null,
  media: 'text/event-stream',
  refusals: { rate_limited: ['streams'], provider_unavailable: [] },
})

export const runEffects = operation({
  ...reading,
  id: 'runs.effects',
  path: `${ofRun}/effects`,
  summary: 'Read what a run did outside: requests, calls, transfers, model inference, with their receipts',
  query: null,
  output: z.strictObject({ items: z.array(effectRecord) }),
})

export const runTranscript = operation({
  ...reading,
  id: 'runs.transcript',
  path: `${ofRun}/transcript`,
  summary: 'Read what was said in a run; of the agent only what was heard',
  query: null,
  output: transcript,
})

export const runRecording = operation({
  ...reading,
  id: 'runs.recording',
  path: `${ofRun}/recording`,
  summary: 'Read the state of a recording and fresh links to it',
  query: null,
  output: recording,
  auditsReads: true,
})
