import { decimal } from '@parley/nodes'
import { z } from 'zod'
import { uuid } from '../values/names.ts'
import { scope } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

const count = z.int().min(0)
const someObservations = z.int().min(1)

/** The kinds of destinations that notifications go to. */
export const deliveredKind = z.enum(['chat', 'paging', 'webhook'])

/** A decimal in an answer. */
export const shownDecimal = decimal

/** `from` is inclusive, `to` is exclusive; what belongs to a run counts at the run's creation. */
export const window = z.strictObject({ from: timestamp, to: timestamp })

const declaredUsage = {
  basis: z.literal('declared_estimate'),
  currency: z.literal('USD'),
  coverage: z.literal('recorded_measurements_only'),
  observation_count: someObservations,
}

const usageView = z.strictObject({
  kind: z.literal('usage_view'),
  view: z.strictObject({
    schema_version: z.literal('1'),
    scope,
    window,
    as_of: timestamp,
    /** The database's snapshot, as `pg_current_snapshot()` of Postgres writes it. */
    snapshot: z
      .string()
      .max(4096)
      .regex(/^[0-9]+:[0-9]+:([0-9]+(,[0-9]+)*)?$/),
    /**
     * The priced runs of the window. The hash is the SHA-256 of one line `<key> <cost.amount>` for each row with an amount that the
     * usage of the window has with `group_by=run`, in its order, joined by line feeds.
     */
    cohort: z.strictObject({ observation_count: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  }),
  ...declaredUsage,
})

/** Not produced. */
const usageStatement = z.strictObject({
  kind: z.literal('usage_statement'),
  statement_id: uuid,
  ...declaredUsage,
})

/** Turns of the window's runs in which a model was requested, as `turn` items of their timelines with `latency.llm`. */
const attemptLatency = z.strictObject({
  kind: z.literal('gateway_attempt_latency'),
  observation_count: someObservations,
})

const platformMetric = z.strictObject({
  kind: z.literal('platform_metric'),
  metric: z.enum(['call_error_rate_24h', 'recording_failure_rate_24h']),
  definition_version: z.literal(1),
  /** Settled calls or recordings. */
  observation_count: count,
  failed_count: count,
  /** Not settled yet, and left out of the value. */
  unknown_count: count,
})

/** What the value of an evaluation was computed from. */
export const evidence = z
  .discriminatedUnion('kind', [usageView, usageStatement, attemptLatency, platformMetric])
  .meta({ id: 'AlertEvidence' })
