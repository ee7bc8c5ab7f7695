import type { Plan } from '@parley/contract'
import { withDefaults } from './defaults.ts'
import type { DraftContent } from './draft.ts'

/** What an engine runs: a draft without its source, with every default filled in. Parsing a serialised plan gives an equal plan. */
export type { Plan }

const PLAN_SCHEMA_VERSION = 1

/** The plan of a draft that has no errors: frozen, and sharing no object with the draft. */
export function planFrom({ source: _, settings, ...agent }: DraftContent): Plan {
  const plan: Plan = { plan_schema_version: PLAN_SCHEMA_VERSION, ...agent, settings: withDefaults(settings) }
  return freeze(structuredClone(plan))
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
