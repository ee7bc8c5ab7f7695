import { CarrierHarness } from './carrier-harness.ts'
import type { Scenario, SocketScenario, VirtualScenario } from './scenario.ts'
import { SocketHarness } from './socket-harness.ts'

export interface ScenarioResult {
  readonly name: string
  readonly ok: boolean
  /** What went wrong; empty when nothing did. */
  readonly detail: string
  readonly ms: number
}

/** A planted fault, which every scenario in virtual time must report: the engine receives no SIP message of the carrier. */
type Planted = 'nothing' | 'a deaf engine'

/** Runs scenarios: those in virtual time one after the other, those over sockets at the same time, on one engine. With a planted fault only the former. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  {
    planted = 'nothing',
    onResult = () => {},
  }: { readonly planted?: Planted; readonly onResult?: (result: ScenarioResult) => void } = {},
): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = []
  const note = (result: ScenarioResult) => {
    results.push(result)
    onResult(result)
  }
  for (const scenario of scenarios) if ('run' in scenario) note(await runVirtual(scenario, planted))
  const overSockets = scenarios.filter((scenario): scenario is SocketScenario => 'runOverSockets' in scenario)
  if (overSockets.length === 0 || planted !== 'nothing') return results
  const harness = await SocketHarness.open()
  try {
    const run = async (scenario: SocketScenario) =>
      note(await timed(scenario.name, () => scenario.runOverSockets(harness)))
    await Promise.all(overSockets.filter(({ floods }) => floods !== true).map(run))
    for (const scenario of overSockets.filter(({ floods }) => floods === true)) await run(scenario)
  } finally {
    await harness.close()
  }
  return results
}

function runVirtual(scenario: VirtualScenario, planted: Planted): Promise<ScenarioResult> {
  const harness = new CarrierHarness(scenario.answering)
  if (planted === 'a deaf engine') harness.deafen()
  return timed(scenario.name, () => scenario.run(harness))
}

async function timed(name: string, run: () => Promise<void>): Promise<ScenarioResult> {
  const began = performance.now()
  let detail = ''
  try {
    await run()
  } catch (error) {
    detail = error instanceof Error ? error.message : String(error)
  }
  return { name, ok: detail === '', detail, ms: Math.round(performance.now() - began) }
}
