import { plan } from '@parley/contract'
import type { z } from 'zod'
import { withDefaults } from './defaults.ts'
import type { DraftContent } from './draft.ts'

/** What an engine runs: a draft without its source, every default filled in. Parsing a serialised plan gives an equal one. */
export const planSchema = plan

export type Plan = z.output<typeof plan>

const PLAN_SCHEMA_VERSION = 1

/** The plan that a draft without errors comes to; frozen, and nothing of the draft's is shared. */
export function planFrom({ source: _, settings, ...agent }: DraftContent): Plan {
  const plan: Plan = { plan_schema_version: PLAN_SCHEMA_VERSION, ...agent, settings: withDefaults(settings) }
  return freeze(structuredClone(plan))
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
