import type { Scope } from '@parley/contract'
import type { Queries, Topic } from '@parley/store'
import { staffScope } from '@parley/store'

/** A staff command with parsed arguments. */
export type StaffCommand = (tx: Queries) => Promise<StaffOutcome>

interface StaffOutcome {
  /** Printed as JSON. */
  readonly answer: unknown
  /** Changed rows that other processes cache. */
  readonly changed: readonly (readonly [topic: Topic, id: string])[]
}

/** A command in one environment. `env`: its tenant id; undefined: the only production environment. */
export function inEnvironment(
  env: string | undefined,
  command: (tx: Queries, scope: Scope) => Promise<StaffOutcome>,
): StaffCommand {
  return async tx => command(tx, await staffScope(tx, env ?? null))
}

/** The switch `--env TENANT_ID`. */
export const ENV_OPTION = { env: { type: 'string' } } as const
