import type { contentRef, runRecording } from '@parley/contract'
import { type Queries, type RunRow, readPublication, readRecording } from '@parley/store'
import type { z } from 'zod'
import { hasEnded } from '../handlers/runs-body.ts'

/** The state of a run's recording. */
export interface RecordingNow {
  readonly state: z.output<typeof runRecording>['state']
  readonly content: z.output<typeof contentRef> | null
  /** Whether links to the player page expire: the agent's `signed_urls`. */
  readonly linksEnd: boolean
}

/** The state of a run's recording, also if no recording was started. */
export async function recordingOf(db: Queries, run: RunRow): Promise<RecordingNow> {
  const { agent_id, run_id, publication } = run
  const [stored, published] = await Promise.all([
    readRecording(db, run, run_id),
    readPublication(db, run, agent_id, publication.version),
  ])
  const settings = published?.plan.recording
  const linksEnd = settings?.signed_urls ?? true
  // Recordings are written with the type of the contract's ContentRef.
  const content = (stored?.content ?? null) as RecordingNow['content']
  if (stored !== null) return { state: stored.state, content, linksEnd }
  const isRequired = run.channel !== 'cloud' && settings?.required === true
  if (!isRequired) return { state: 'not_required', content: null, linksEnd }
  if (!hasEnded(run)) return { state: 'pending', content: null, linksEnd }
  // A call that was never connected had nothing to record.
  return { state: run.connected_ms === null ? 'not_required' : 'failed', content: null, linksEnd }
}
