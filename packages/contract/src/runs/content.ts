import { text } from '@parley/nodes'
import { z } from 'zod'
import { uuid } from '../values/names.ts'
import { timestamp } from '../values/time.ts'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, '64 lower-case hex digits')
const ms = z.number().min(0)

/** Bytes that are kept for a time. */
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
    /** Of the agent: only what was heard. */
    text: text(0),
    /** One for each turn. */
    segment_id: text(0).nullable(),
    /** Where on the call's clock the text became final. */
    observed_offset_ms: z.int().min(0).nullable(),
    interrupted: z.boolean(),
    start_ms: ms.nullable(),
    end_ms: ms.nullable(),
    node_id: text(0).nullable(),
  })
  .meta({ id: 'Utterance' })

/** While the run lives: its latest checkpoint, `partial`. */
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
    /** A page to play it, to be shared. */
    url: text(0, 4096).nullable(),
    url_expires_at: timestamp.nullable(),
    /** The audio itself, for at most five minutes; read again for a fresh one. */
    media_url: text(0, 4096).nullable(),
    media_url_expires_at: timestamp.nullable(),
    content: contentRef.nullable(),
  })
  .meta({ id: 'Recording' })
