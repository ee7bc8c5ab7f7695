import type { effectRecord, timelineItem, utterance } from '@parley/contract'
import { runTraceIds } from '@parley/kernel'
import {
  type EventRow,
  listEffects,
  listEvents,
  listSipMessages,
  type RunRow,
  readTranscript,
  type TranscriptRow,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { AUDIO_MS, PAGE_MS, RECORDINGS_PATH, type RecordingLink, sealLink } from '../recordings/recording-link.ts'
import { recordingOf } from '../recordings/recording-state.ts'
import { existingRun, hasEnded } from './runs-body.ts'

type Transcript = Awaited<ReturnType<Handlers['runs.transcript']>>['body']

export const runContentHandlers = {
  'runs.timeline': async ({ params: { run_id }, query: { cursor, limit } }, context) => {
    const { db, scope } = context
    const { rows, next_cursor } = await listEvents(db, scope, run_id, { cursor: cursor ?? null, limit })
    // The timeline of a run begins with its first state, so no rows mean an unknown run or a page behind the end.
    if (rows.length === 0) await existingRun(context, run_id)
    const { traceId: trace_id } = runTraceIds(run_id)
    return { status: 200, body: { run_id, trace_id, items: rows.map(timelineBody), next_cursor } }
  },

  'runs.effects': async ({ params: { run_id } }, context) => {
    const effects = await listEffects(context.db, context.scope, run_id)
    if (effects.length === 0) await existingRun(context, run_id)
    return { status: 200, body: { items: effects as unknown as z.input<typeof effectRecord>[] } }
  },

  'runs.ladder': async ({ params: { run_id } }, context) => {
    const rows = await listSipMessages(context.db, context.scope, run_id)
    if (rows.length === 0) await existingRun(context, run_id)
    const items = rows.flatMap(({ place: _place, message, ...row }) => (message === null ? [] : [{ ...row, message }]))
    return { status: 200, body: { items, truncated: items.length < rows.length } }
  },

  'runs.transcript': async ({ params: { run_id } }, context) => ({
    status: 200,
    body: await transcriptOf(run_id, context),
  }),

  'runs.recording': async ({ params: { run_id } }, context) => {
    context.auditResource({ kind: 'run', id: run_id })
    const run = await existingRun(context, run_id)
    const { state, content, linksEnd } = await recordingOf(context.db, run)
    const hasPage = ['pending', 'recording', 'processing', 'ready', 'partial'].includes(state)
    const ends = linksEnd ? context.platform.now() + PAGE_MS : null
    const page = hasPage ? linkTo(context, { kind: 'page', run_id, artifact_id: null, expires: ends }) : null
    const expires = context.platform.now() + AUDIO_MS
    const audio =
      content === null ? null : linkTo(context, { kind: 'audio', run_id, artifact_id: content.artifact_id, expires })
    return {
      status: 200,
      body: {
        run_id,
        state,
        content,
        url: page,
        url_expires_at: page === null || ends === null ? null : new Date(ends).toISOString(),
        media_url: audio === null ? null : `${audio}/audio`,
        media_url_expires_at: audio === null ? null : new Date(expires).toISOString(),
      },
    }
  },
} satisfies Partial<Handlers>

/** An item of the timeline, in the form of the API and of the event stream. */
export function timelineBody({ fields, ...place }: EventRow): z.input<typeof timelineItem> {
  // Items are written with the types of the contract, so that they match its schema.
  return { ...place, ...fields } as unknown as z.input<typeof timelineItem>
}

/** The transcript of a run; throws `not_found`. */
export async function transcriptOf(runId: string, context: Context): Promise<Transcript> {
  const [run, stored] = await Promise.all([
    existingRun(context, runId),
    readTranscript(context.db, context.scope, runId),
  ])
  return transcriptBody(run, stored)
}

function transcriptBody(run: RunRow, stored: TranscriptRow | null): Transcript {
  const { run_id } = run
  if (stored === null) {
    const state = run.started_at === null ? 'not_available' : hasEnded(run) ? 'complete' : 'partial'
    return { run_id, state, utterances: [], checkpoint: null, content: null }
  }
  const { state, utterances, checkpoint, content } = stored
  return {
    run_id,
    state,
    // An expired transcript has no utterances any more.
    utterances: state === 'expired' ? [] : (utterances as unknown as z.input<typeof utterance>[]),
    checkpoint: checkpoint as Transcript['checkpoint'],
    content: content as Transcript['content'],
  }
}

type NewLink = Pick<RecordingLink, 'kind' | 'run_id' | 'artifact_id' | 'expires'>

function linkTo({ platform, scope }: Context, link: NewLink): string {
  return `${platform.baseUrl()}${RECORDINGS_PATH}/${sealLink(platform.sealer, link, scope)}`
}
