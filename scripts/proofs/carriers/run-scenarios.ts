import { CarrierHarness } from './carrier-harness.ts'
import type { Scenario } from './scenario.ts'

export interface ScenarioResult {
  readonly name: string
  readonly ok: boolean
  /** What went wrong; empty when nothing did. */
  readonly detail: string
  /** CPU and wall time of the scenario. */
  readonly ms: number
}

/** Runs one scenario on a harness of its own. */
export async function runScenario({ name, run, answering }: Scenario): Promise<ScenarioResult> {
  const began = performance.now()
  let detail = ''
  try {
    await run(new CarrierHarness(answering))
  } catch (error) {
    detail = error instanceof Error ? error.message : String(error)
  }
  return { name, ok: detail === '', detail, ms: Math.round(performance.now() - began) }
}
