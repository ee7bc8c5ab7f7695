import { type Blobs, type Database, forgetBlobs, type RunOfTenant, recordingPrefix } from '@parley/store'

interface ExpirySweep {
  /** Most runs of one kind per call. Default 500. */
  readonly atMost?: number
  readonly onProblem?: (what: string, error: unknown) => void
}

/** Numbers of runs whose contents were deleted. */
interface ExpiredContents {
  readonly recordings: number
  readonly transcripts: number
}

/**
 * Deletes what is past its environment's retention: recordings with their blobs, and transcripts with their utterances,
 * digits and analyses. Idempotent, and safe in many processes at once; blobs that cannot be deleted now are deleted by a
 * later call. Rejects with errors of the database.
 */
export async function expireContents(
  database: Database,
  blobs: Blobs,
  { atMost = 500, onProblem }: ExpirySweep = {},
): Promise<ExpiredContents> {
  let recordings = 0
  for (let gone = atMost; gone >= atMost; recordings += gone) {
    gone = 0
    for (const expired of await database.contents.expireRecordings(atMost))
      try {
        await deleteBlobs(database, blobs, expired)
        gone++
      } catch (error) {
        onProblem?.(`the expired recording of ${expired.run_id} cannot be deleted`, error)
      }
  }
  let transcripts = 0
  for (let gone = atMost; gone >= atMost; transcripts += gone) gone = await database.contents.expireTranscripts(atMost)
  return { recordings, transcripts }
}

async function deleteBlobs(database: Database, blobs: Blobs, { run_id, scope }: RunOfTenant): Promise<void> {
  for await (const { key } of blobs.list(recordingPrefix(scope, run_id))) await blobs.delete(key)
  await database.transaction(scope, tx => forgetBlobs(tx, scope, run_id))
}
