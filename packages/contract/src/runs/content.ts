import { text } from '@parley/nodes'
import { z } from 'zod'
import { uuid } from '../values/names.ts'
import { timestamp } from '../values/time.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits')
const ms = z.number().min(0)

/** A stored file and when it expires. */
export const contentRef = z
  .strictObject({
    artifact_id: uuid,
    sha256,
    byte_size: z.int().min(0),
    media_type: text(1, 128),
    expires_at: timestamp.nullable(),
  })
  .meta({ id: 'ContentRef' })

export const utterance = z
  .strictObject({
    index: z.int().min(0),
    role: z.enum(['agent', 'user']),
    /** For the agent: only the words that were played to the caller. */
    text: text(0),
    /** One id per turn. */
    segment_id: text(0).nullable(),
    /** When the text became final, in ms on the clock of the call. */
    observed_offset_ms: z.int().min(0).nullable(),
    interrupted: z.boolean(),
    start_ms: ms.nullable(),
    end_ms: ms.nullable(),
    node_id: text(0).nullable(),
  })
  .meta({ id: 'Utterance' })

/** The transcript of a run; while the run is live, its latest checkpoint with state `partial`. */
export const transcript = z
  .strictObject({
    run_id: uuid,
    state: z.enum(['complete', 'partial', 'not_available', 'expired']),
    utterances: z.array(utterance),
    checkpoint: z
      .strictObject({
        segments: z.int().min(0),
        last_completed_turn_offset_ms: z.int().min(0),
        published_at: timestamp,
      })
      .nullable(),
    content: contentRef.nullable(),
  })
  .meta({ id: 'Transcript' })

export const recording = z
  .strictObject({
    run_id: uuid,
    state: z.enum(['pending', 'recording', 'processing', 'ready', 'partial', 'failed', 'not_required', 'expired']),
    /** URL of a player page, which may be shared. */
    url: text(0, 4096).nullable(),
    url_expires_at: timestamp.nullable(),
    /** URL of the audio file, valid for at most five minutes; repeat the request for a new one. */
    media_url: text(0, 4096).nullable(),
    media_url_expires_at: timestamp.nullable(),
    content: contentRef.nullable(),
  })
  .meta({ id: 'Recording' })
