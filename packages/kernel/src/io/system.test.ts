import { describe, expect, it } from 'vitest'
import { systemTime } from './system.ts'

describe('system time', () => {
  it('a timer never fires before its deadline', async () => {
    const early = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const deadline = systemTime.now() + i / 10
        return new Promise<number>(resolve => systemTime.at(deadline, () => resolve(systemTime.now() - deadline)))
      }),
    )
    expect(Math.min(...early)).toBeGreaterThanOrEqual(0)
  })

  it('a timer waits for a deadline beyond the limit of setTimeout, and an overdue timer fires asynchronously', async () => {
    const fired: string[] = []
    const far = systemTime.at(systemTime.now() + 2 ** 32, () => fired.push('far'))
    await new Promise<void>(resolve => {
      systemTime.at(systemTime.now() - 5, () => {
        fired.push('overdue')
        systemTime.at(systemTime.now() + 20, resolve)
      })
      expect(fired).toEqual([])
    })
    far.cancel()
    expect(fired).toEqual(['overdue'])
  })
})
