import { decimal, text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { timestamp } from '../values/time.ts'

const policyId = text(1, 160).regex(/^[A-Za-z0-9_.:/-]*$/, 'letters, digits, _ . : / -')
/** A decimal that may be negative. */
const signedDecimal = z.string().regex(/^-?(0|[1-9][0-9]*)(\.[0-9]{1,12})?$/, 'a decimal such as "-12.50"')

export const budget = z
  .strictObject({
    /** False until a rate card is installed; costs are unknown then, not zero. */
    configured: z.boolean(),
    budget_id: policyId.nullable(),
    policy_id: policyId.nullable(),
    /** The calendar month, UTC. */
    period: z.strictObject({ from: timestamp, to: timestamp }).nullable(),
    cap_usd: decimal.nullable(),
    spent_usd: decimal.nullable(),
    remaining_usd: signedDecimal.nullable(),
    exceeded: z.boolean(),
    unresolved_runs: z.int().min(0),
    as_of: timestamp.nullable(),
  })
  .meta({ id: 'Budget' })

const getBudget = operation({
  id: 'budgets.get',
  method: 'GET',
  path: '/api/v1/usage/budget',
  summary: 'Read the spend cap of the month and the amount spent',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: budget,
  statuses: [200],
  refusals: {},
})

const updateBudget = operation({
  id: 'budgets.update',
  method: 'PUT',
  path: '/api/v1/usage/budget',
  summary: 'Set the spend cap of the month (compare-and-set on the policy); it takes effect at once',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z.strictObject({ cap_usd: decimal.max(64), expected_policy_id: policyId }),
  output: budget,
  statuses: [200],
  refusals: { conflict: ['stale_revision'], capability_unavailable: ['pricing_not_installed'] },
})

export const budgetOperations = [getBudget, updateBudget] as const
