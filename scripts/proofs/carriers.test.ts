import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../repository.ts'
import { check } from './carriers/checks.ts'
import { withMatrix } from './carriers/matrix.ts'
import { runScenarios } from './carriers/run-scenarios.ts'
import type { Scenario, VirtualScenario } from './carriers/scenario.ts'
import { SCENARIO_GROUPS } from './carriers/table.ts'
import { proveCarriers } from './carriers.ts'

const scenarios: readonly Scenario[] = SCENARIO_GROUPS.flatMap(group => group.scenarios)
const inVirtualTime = scenarios.filter((scenario): scenario is VirtualScenario => 'run' in scenario)
const quiet = { count: 1000, line: () => {}, progress: () => {} }

describe('the proof "carriers": a carrier misbehaves in every way of a table', () => {
  it.each(SCENARIO_GROUPS.filter(group => group.scenarios.some(scenario => 'run' in scenario)))(
    'the engine does what the table says: $title',
    async group => {
      const results = await runScenarios(group.scenarios.filter(scenario => 'run' in scenario))
      expect(results.filter(({ ok }) => !ok)).toEqual([])
    },
  )

  it('the proof fails for a scenario with a wrong expectation, and names it', async () => {
    const wrong: VirtualScenario = {
      ...inVirtualTime[0]!,
      name: 'wrong-expectation',
      async run(h) {
        await h.dial()
        await h.respond(486)
        check('status', h.end?.sipStatus, 404)
      },
    }
    const { ok, summary } = await proveCarriers(quiet, [inVirtualTime[1]!, wrong])
    expect({ ok, summary }).toMatchObject({ ok: false, summary: { failed: ['wrong-expectation'] } })
  })

  it('the proof fails for a scenario that would also pass with an engine that receives nothing', async () => {
    const blind: VirtualScenario = {
      ...inVirtualTime[0]!,
      name: 'checks-nothing',
      run: async h => void (await h.dial()),
    }
    const { ok, summary } = await proveCarriers(quiet, [blind])
    expect({ ok, summary }).toMatchObject({ ok: false, summary: { planted_fault_unnoticed: ['checks-nothing'] } })
  })

  it('every tenth scenario notices an engine that receives nothing', async () => {
    const results = await runScenarios(
      inVirtualTime.filter((_, i) => i % 10 === 0),
      { planted: 'a deaf engine' },
    )
    expect(results.filter(({ ok }) => ok)).toEqual([])
  })
})

describe('the table of scenarios', () => {
  it('each scenario has a name of its own, and a public thread or a clause as its source', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
    for (const { name, source } of scenarios) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      if ('issue' in source) expect(source.issue).toMatch(/^[\w.-]+\/[\w.-]+#\d+$/)
      else expect(source.clause).toMatch(/^RFC \d+ (section|sections|appendix) \w/)
    }
    expect(scenarios.filter(({ source }) => 'issue' in source).length).toBeGreaterThanOrEqual(60)
  })

  it('docs/interop.md has the tables of the scenarios (else: node scripts/proofs/carriers/write-matrix.ts)', () => {
    const page = readFileSync(join(repositoryRoot, 'docs/interop.md'), 'utf8')
    expect(withMatrix(page)).toBe(page)
  })
})
