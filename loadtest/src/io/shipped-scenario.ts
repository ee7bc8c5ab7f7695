import { join } from 'node:path'

export const SHIPPED_SCENARIOS = [
  'answer-storm',
  'steady-talk',
  'barge-in',
  'set-up-and-tear-down',
  'soak',
  'long-talk',
] as const

/** Path of a scenario that ships with this package; null: none has this name. */
export function shippedScenario(name: string): string | null {
  const isShipped = SHIPPED_SCENARIOS.some(shipped => shipped === name)
  return isShipped ? join(import.meta.dirname, '../../scenarios', `${name}.yaml`) : null
}
