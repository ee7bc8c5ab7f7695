import { beforeAll, describe, expect, it } from 'vitest'
import { FaultyAgent, type PlantedFault } from './faulty-agent.fixture.ts'

let agent: FaultyAgent
beforeAll(async () => {
  agent = await FaultyAgent.prepare()
}, 600_000)

const kindsOf = async (fault: PlantedFault) => (await agent.call(fault)).failures.map(({ kind }) => kind)

describe('what the fleet reports of a call', { timeout: 600_000 }, () => {
  it('a good call has no failure, and its set-up time and reply time are measured', async () => {
    const { failures, setupMs, replies, gaps, end } = await agent.call('none')
    expect(failures).toEqual([])
    expect(gaps).toEqual([])
    expect(end).toMatchObject({ answered: true, by: 'remote', confirmed: true })
    expect(setupMs).toBeGreaterThan(0)
    expect(replies).toHaveLength(1)
    expect(replies[0]! - 400).toBeGreaterThan(0)
    expect(replies[0]! - 400).toBeLessThan(250)
  })

  it.each([
    ['mute', ['no_audio']],
    ['gap', ['gap']],
    ['wrong-word', ['wrong_words']],
    ['refused', ['refused_503']],
    ['never-hangs-up', ['never_hung_up']],
    ['late-reply', ['late_reply']],
  ] as const)('a call with the planted fault "%s" is reported as %s and as nothing else', async (fault, kinds) => {
    expect(await kindsOf(fault)).toEqual(kinds)
  })

  it('a reply that is 300 ms later than the others is reported where the limit is between them', async () => {
    const { replies, failures } = await agent.call('late-reply')
    expect(replies[0]!).toBeGreaterThan(900)
    expect(failures[0]!.detail).toMatch(/^to step 1 after \d+ ms$/)
  })

  it('a far end that hangs up before its answer is reported for the missing words', async () => {
    expect(await kindsOf('hangs-up-early')).toEqual(['wrong_words'])
  })

  it('a far end that hangs up before the caller has said everything is reported as dropped', async () => {
    const { failures } = await agent.call('none', [
      { says: 'A ticket for Monday.', pause_before_ms: 500 },
      { says: 'And one for Tuesday.', pause_before_ms: 5000 },
    ])
    expect(failures.map(({ kind }) => kind)).toEqual(['dropped'])
  })

  it('one call in a hundred without audio is found, and no other call is reported', async () => {
    const steps = [{ silence_ms: 1500, hangs_up: true }]
    const found: number[] = []
    for (let i = 0; i < 100; i++) {
      const { failures } = await agent.call(i === 62 ? 'mute' : 'none', steps)
      if (failures.length > 0) found.push(i)
    }
    expect(found).toEqual([62])
  })
})
