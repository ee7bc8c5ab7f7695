import type { Scope } from '@parley/contract'
import type { Queries, Topic } from '@parley/store'
import { staffScope } from '@parley/store'

/** The action of a staff command with parsed arguments. */
export type StaffAct = (tx: Queries) => Promise<StaffOutcome>

interface StaffOutcome {
  /** Printed as JSON. */
  readonly answer: unknown
  /** Changed rows that other processes cache. */
  readonly changed: readonly (readonly [topic: Topic, id: string])[]
}

/** What is done in one environment; `env` undefined: the only production environment. */
export function inEnvironment(
  env: string | undefined,
  act: (tx: Queries, scope: Scope) => Promise<StaffOutcome>,
): StaffAct {
  return async tx => act(tx, await staffScope(tx, env ?? null))
}

/** Every command but the first two and the last takes it. */
export const ENV_OPTION = { env: { type: 'string' } } as const
