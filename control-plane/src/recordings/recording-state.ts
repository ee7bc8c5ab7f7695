import type { contentRef, runRecording } from '@parley/contract'
import { type Queries, type RunRow, readPublication, readRecording } from '@parley/store'
import type { z } from 'zod'
import { hasEnded } from '../handlers/runs-body.ts'

export interface RecordingNow {
  readonly state: z.output<typeof runRecording>['state']
  readonly content: z.output<typeof contentRef> | null
  /** Whether the agent's links to the player's page end, which is what it says of `signed_urls`. */
  readonly linksEnd: boolean
}

/** How the recording of a run stands, also where none was begun. */
export async function recordingOf(db: Queries, run: RunRow): Promise<RecordingNow> {
  const { agent_id, run_id, publication } = run
  const [kept, whole] = await Promise.all([
    readRecording(db, run, run_id),
    readPublication(db, run, agent_id, publication.version),
  ])
  const wanted = whole?.plan.recording
  const linksEnd = wanted?.signed_urls ?? true
  // What is stored is what the contract's ContentRef allows.
  const content = (kept?.content ?? null) as RecordingNow['content']
  if (kept !== null) return { state: kept.state, content, linksEnd }
  const isWanted = run.channel !== 'cloud' && wanted?.required === true
  if (!isWanted) return { state: 'not_required', content: null, linksEnd }
  if (!hasEnded(run)) return { state: 'pending', content: null, linksEnd }
  // Nobody was connected: there was nothing to record.
  return { state: run.connected_ms === null ? 'not_required' : 'failed', content: null, linksEnd }
}
