import { describe, expect, it } from 'vitest'
import { planOf } from '../text/testing/agents.ts'
import { recordedCase } from './recorded-cases.ts'

const plan = planOf([{ id: 'end', type: 'end' }])
const run = {
  run_id: '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f',
  caller: [{ says: 'Hello' }, { says: '' }, { presses: '12' }, { says: 'Goodbye' }],
  nodes: ['end'],
  dynamic_variables: {},
}

describe('a recorded run as a case', () => {
  it('its caller says what was heard and presses the same keys, without empty utterances', () => {
    expect(recordedCase(run, plan)?.caller).toMatchObject({
      steps: [{ says: 'Hello' }, { presses: '12' }, { says: 'Goodbye' }],
    })
  })

  it.each([
    ['no words of the caller', { caller: [{ says: '' }] }],
    ['no nodes', { nodes: [] }],
    ['data outside the bounds of a case', { nodes: ['x'.repeat(129)] }],
  ])('a run with %s becomes none, so that the others of its source still start', (_, over) => {
    expect(recordedCase({ ...run, ...over }, plan)).toBeNull()
  })
})
