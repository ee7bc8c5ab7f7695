import { expect, it } from 'vitest'
import { readScenario } from '../fleet/scenario.ts'
import { FleetMember } from './fleet-member.ts'

it('a scenario that pins the fleet to a core which the machine has not got says so', async () => {
  const scenario = readScenario(
    '{ name: a, direction: answers, callers: [{ name: a, caller: { kind: script, steps: [{ hangs_up: true }] } }], load: { calls: 1, hold_s: 1 }, generator: { cores: [1023] } }',
  )
  const target = { uri: null, ca: '', systemRoots: false, credentials: null, from: null }
  const opened = FleetMember.open({ scenario, target, index: 0, of: 1, home: '/nowhere' }, () => {})
  await expect(opened).rejects.toMatchObject({
    code: 'not_permitted',
    message: expect.stringMatching(/^generator\.cores: there is no core 1023 on this machine, which has core/),
  })
})
