import { describe, expect, it } from 'vitest'
import { type Offload, withOffloading } from './offload.ts'

/** An attempt that needs the work once for each of `abouts`, in this order. */
function attemptsOn(abouts: string[]) {
  const seen: string[] = []
  let rounds = 0
  const attempt = async (offload: Offload) => {
    seen.push('begun')
    const about = abouts[Math.min(rounds++, abouts.length - 1)]!
    const outcome = await offload(about, async () => {
      seen.push(`work on ${about}`)
      return `of ${about}`
    })
    seen.push('went on')
    return outcome
  }
  return { seen, attempt }
}

describe('work offloaded from a transaction', () => {
  it('the work runs after the attempt is rolled back, and the next attempt gets its result', async () => {
    const { seen, attempt } = attemptsOn(['a'])
    expect(await withOffloading(attempt)).toBe('of a')
    expect(seen).toEqual(['begun', 'work on a', 'begun', 'went on'])
  })

  it('the work runs again when its inputs have changed by the next attempt', async () => {
    const { seen, attempt } = attemptsOn(['a', 'b'])
    expect(await withOffloading(attempt)).toBe('of b')
    expect(seen).toEqual(['begun', 'work on a', 'begun', 'work on b', 'begun', 'went on'])
  })

  it('the request is refused when the inputs change in every attempt', async () => {
    const { seen, attempt } = attemptsOn(['a', 'b', 'c', 'd', 'e', 'f'])
    await expect(withOffloading(attempt)).rejects.toMatchObject({ code: 'always_outdated', retryable: true })
    expect(seen.filter(what => what.startsWith('work'))).toHaveLength(4)
    expect(seen).not.toContain('went on')
  })

  it('an error of the work or of the attempt rejects the whole', async () => {
    const failing = withOffloading(offload => offload('a', () => Promise.reject(new RangeError('too many'))))
    await expect(failing).rejects.toThrow(RangeError)
    await expect(withOffloading(() => Promise.reject(new RangeError('no')))).rejects.toThrow(RangeError)
  })
})
