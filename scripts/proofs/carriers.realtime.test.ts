import { expect, it } from 'vitest'
import { OUTCOMES } from './carriers/outcomes.ts'
import { runScenarios } from './carriers/run-scenarios.ts'

it('the scenarios of the proof "carriers" over sockets end as the table says', async () => {
  expect((await runScenarios(OUTCOMES.scenarios)).filter(({ ok }) => !ok)).toEqual([])
})
