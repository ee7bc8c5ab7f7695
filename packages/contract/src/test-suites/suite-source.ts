import { text } from '@parley/nodes'
import { z } from 'zod'
import { uuid, version } from '../values/names.ts'

const selector = z.strictObject({
  kind: z.literal('selector'),
  /** Runs that were created in the last days. */
  window_days: z.int().min(1).max(90),
  /** Default: all versions of the suite's agent. */
  versions: z.array(version).max(20).default([]),
  contact: z
    .array(z.enum(['human', 'voicemail', 'ivr', 'unknown']))
    .min(1)
    .default(['human']),
  /** Default: all. */
  dispositions: z.array(text(1, 128)).max(32).default([]),
  min_caller_turns: z.int().min(1).default(1),
  sample: z.enum(['latest', 'stratified_by_disposition']).default('latest'),
  limit: z.int().min(1).max(200),
})

/** Recorded runs that become further cases of the suite when a test run starts. */
export const suiteSource = z
  .discriminatedUnion('kind', [
    selector,
    z.strictObject({ kind: z.literal('runs'), run_ids: z.array(uuid).min(1).max(200) }),
  ])
  .meta({ id: 'SuiteSource' })

export type SuiteSource = z.output<typeof suiteSource>
