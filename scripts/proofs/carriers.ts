import { runScenarios, type ScenarioResult } from './carriers/run-scenarios.ts'
import type { Scenario } from './carriers/scenario.ts'
import { SCENARIO_GROUPS } from './carriers/table.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const NAME_WIDTH = 44

/**
 * A carrier misbehaves in each way of the table of scenarios, and the engine does what the table says: in virtual time with the
 * engine's signalling and media, or over sockets with a whole engine. Then every scenario in virtual time runs again with an
 * engine that receives nothing after its INVITE, and has to fail. `count`: how many scenarios of the table, from its beginning.
 */
export async function proveCarriers(
  { count, line, progress }: Omit<ProofOptions, 'seed' | 'seconds'>,
  table: readonly Scenario[] = SCENARIO_GROUPS.flatMap(({ scenarios }) => scenarios),
): Promise<ProofOutcome> {
  const scenarios = table.slice(0, count)
  const sources = new Map(scenarios.map(({ name, source }) => [name, 'issue' in source ? source.issue : source.clause]))
  const report = (result: ScenarioResult) => {
    const { name, ok, detail, ms } = result
    progress(
      `${ok ? 'as expected' : 'NOT AS EXPECTED'}  ${name.padEnd(NAME_WIDTH)} ${sources.get(name) ?? ''} ${detail}`.trimEnd(),
    )
    line({ proof: 'carriers', scenario: name, source: sources.get(name), ok, detail, ms })
  }
  const results = await runScenarios(scenarios, { onResult: report })
  progress('again, with an engine that receives nothing')
  const blind = await runScenarios(scenarios, { planted: 'a deaf engine' })
  const unnoticed = blind.filter(({ ok }) => ok).map(({ name }) => name)
  for (const name of unnoticed) progress(`${name} passes although the engine receives nothing`)
  const failed = results.filter(({ ok }) => !ok).map(({ name }) => name)
  return {
    ok: failed.length === 0 && unnoticed.length === 0 && results.length === scenarios.length,
    summary: {
      scenarios: results.length,
      over_sockets: results.length - blind.length,
      from_public_threads: scenarios.filter(({ source }) => 'issue' in source).length,
      unsupported_on_purpose: scenarios.filter(({ unsupported }) => unsupported).length,
      failed,
      planted_fault_unnoticed: unnoticed,
    },
  }
}

export const proof: Proof = { name: 'carriers', seconds: 180, count: 1000, run: options => proveCarriers(options) }
