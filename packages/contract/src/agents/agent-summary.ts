import { text } from '@parley/nodes'
import { z } from 'zod'
import { channel, digest, language, revision, uuid, version } from '../values/names.ts'
import { agentReference } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

export const runState = z.enum([
  'admitted',
  'running',
  'ending',
  'completed',
  'failed',
  'cancelled',
  'rejected',
  'expired',
])

const head = z.strictObject({
  version,
  digest,
  channels: z.array(channel).min(1),
  languages: z.array(language).min(1),
  published_at: timestamp,
})

const openDraft = z.strictObject({
  draft_id: uuid,
  revision,
  base_version: version.nullable(),
  published_revision: revision.nullable(),
})

/** The latest run of any version, test runs excepted. */
const lastRun = z.strictObject({
  run_id: uuid,
  created_at: timestamp,
  state: runState,
  disposition: text(0).nullable(),
})

/** An agent with its head publication, its open draft and its last run, null where there is none. */
export const agentSummary = z
  .strictObject({
    ref: agentReference,
    name: text(1, 256),
    head: head.nullable(),
    draft: openDraft.nullable(),
    created_at: timestamp,
    /** When the head was published; `created_at` if there is no head. */
    updated_at: timestamp,
    last_run: lastRun.nullable(),
  })
  .meta({ id: 'AgentSummary' })
