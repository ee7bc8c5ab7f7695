import { decimal, text } from '@parley/nodes'
import { z } from 'zod'
import { agentId, digest, revision, uuid, version } from '../values/names.ts'
import { principalRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'

const errorRate = z.number().min(0.001).max(0.5)

/** The tests that a version must pass before it becomes the live one. Rates and effects are fractions: 0.1 is ten points. */
export const releaseGate = z.strictObject({
  suites: z
    .array(uuid)
    .min(1)
    .max(10)
    .refine(ids => new Set(ids).size === ids.length, 'a suite is named twice; remove one')
    .meta({ uniqueItems: true }),
  /** How often a version that is worse by `minimumEffect` may pass. */
  maximumFalsePass: errorRate,
  /** How often a version as good as the live one may be blocked. */
  maximumFalseBlock: errorRate,
  /** The smallest loss of the mean pass rate that the gate must find. */
  minimumEffect: z.number().min(0.01).max(0.5),
  /** Trials of both versions together, at which the version is blocked. Default: the error rates alone end the tests. */
  maximumTrials: z.int().min(1).max(100_000).optional(),
  /** Measured cost at which the version is blocked. Default: no limit. */
  maximumUsd: decimal.max(64).optional(),
})

export type ReleaseGate = z.output<typeof releaseGate>

const count = z.int().min(0)
const fraction = z.number().min(0).max(1)
const rate = { passed: count, trials: count, low: fraction, high: fraction }

/** Trials that passed, of how many, with the Wilson interval at 95 %. */
const passRate = z.strictObject(rate)

/** What the trials of a gate showed. */
const gateEvidence = z
  .strictObject({
    /** `sequential`: against the live version; `absolute`: by the pass policies of the cases, because no version was live. */
    method: z.enum(['sequential', 'absolute']),
    /** Why the version did not pass; null: it did. */
    reason: z
      .enum(['worse', 'case_failed', 'case_invalid', 'maximum_trials', 'maximum_usd', 'trials_errored', 'no_cases'])
      .nullable(),
    /** Pairs of trials of one case by both versions that were compared. */
    pairs: count,
    trials: count,
    candidate: passRate,
    predecessor: passRate.nullable(),
    /** Pass rate of the candidate less that of its predecessor, with Newcombe's interval at 95 %. */
    difference: z.strictObject({ estimate: z.number(), low: z.number(), high: z.number() }).nullable(),
    measured_usd: z.number().min(0).nullable(),
  })
  .meta({ id: 'GateEvidence' })

export type GateEvidence = z.output<typeof gateEvidence>

/** The release gate of a version. */
export const gate = z
  .strictObject({
    /** `none`: no gate is in force, or its test run was cancelled; `superseded`: another version became the live one meanwhile. */
    state: z.enum(['none', 'running', 'passed', 'failed', 'superseded', 'overridden']),
    test_run_id: uuid.nullable(),
    candidate: version,
    /** The version that was live when the gate began; null: there was none. */
    predecessor: version.nullable(),
    /** Null until the gate has a result. */
    evidence: gateEvidence.nullable(),
    /** Who made the version live without evidence; null: nobody did. */
    override: z.strictObject({ reason: text(1, 500), by: principalRef, at: timestamp }).nullable(),
  })
  .meta({ id: 'Gate' })

export const gateOverride = z.strictObject({ reason: text(1, 500) })

/** What the platform signs when a version has passed its gate. */
const certificateContent = z.strictObject({
  type: z.literal('parley-release-certificate'),
  format: z.literal(1),
  owner_id: text(1),
  environment: text(1),
  publication: z.strictObject({ agent_id: agentId, version, digest }),
  predecessor: z.strictObject({ version, digest }).nullable(),
  gate: releaseGate,
  suites: z.array(z.strictObject({ suite_id: uuid, revision, digest })).min(1),
  test_run_id: uuid,
  evidence: gateEvidence,
  issued_at: timestamp,
})

/** A signed statement that a version passed its gate. `signature`: Ed25519 over the RFC 8785 form of `content`, in base64url. */
export const certificate = z
  .strictObject({
    content: certificateContent,
    /** Names the key in `/.well-known/parley-keys.json`. */
    key_id: text(1, 64),
    signature: z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'an Ed25519 signature in base64url'),
  })
  .meta({ id: 'Certificate' })

export type Certificate = z.output<typeof certificate>
