import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { NO_RUN } from '../testing/drafts.ts'
import { type ReadyRun, runHandler } from './run-plan.ts'

it("what an agent's settings take out of its runs is known before the call begins, with the variables that may hold names", () => {
  const redaction = { kinds: ['names'] } as const
  const known: unknown[] = []
  const ready = {
    run: { redact: (...given: unknown[]) => known.push(given), storesInputs: false },
    start: { own_numbers: [] },
    trunk: { details: {} },
    agent: { plan: { settings: { redaction } } },
    time: new VirtualTime(),
  } as unknown as ReadyRun
  runHandler(ready, { call: NO_RUN, variables: { name: 'Ida' }, context: { first_name: 'Bell' } })
  expect(known).toEqual([[redaction, { name: 'Ida', first_name: 'Bell' }]])
})
