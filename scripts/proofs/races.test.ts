import { describe, expect, it } from 'vitest'
import { type PlantedRace, proveRaces } from './races.ts'

async function prove(count: number, planted?: PlantedRace) {
  const lines: object[] = []
  const options = { seed: 1, count, seconds: 300, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveRaces(options, planted)), lines }
}

describe('the proof "races"', { timeout: 600_000 }, () => {
  it('25 rounds: nothing is decided after its key ended, and no call reaches an environment without a confirmed claim', async () => {
    const { ok, summary, lines } = await prove(25)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  })

  it('the proof reports a write that is not ordered with the end of its key', async () => {
    const { ok, lines } = await prove(8, 'a write after its transaction')
    expect(ok).toBe(false)
    expect(lines).toContainEqual(expect.objectContaining({ race: 'key', fault: 'a key was made after the key ended' }))
  })

  it('the proof reports calls that reach claims without a confirmation', async () => {
    const { ok, lines } = await prove(8, 'claims that nobody confirmed')
    expect(ok).toBe(false)
    expect(lines).toContainEqual(expect.objectContaining({ race: 'number', fault: 'a call reached two environments' }))
  })
})
