import { describe, expect, it } from 'vitest'
import { proveSoak } from './soak.ts'

const options = { seed: 1, seconds: 3, count: 10, line: () => {}, progress: () => {} }

describe('the proof "soak"', () => {
  it('after 30 recorded calls at 10 a second, ended from either side, a process holds what it held before', async () => {
    const { ok, summary } = await proveSoak(options)
    expect(ok, JSON.stringify(summary)).toBe(true)
  })

  it('the proof fails when memory, a handle, a port and the place of a call were kept, and names each', async () => {
    const { ok, summary } = await proveSoak(options, ['memory', 'a handle', 'a port', 'a place'])
    const { kept } = summary as { readonly kept: readonly string[] }
    expect(ok).toBe(false)
    for (const name of ['heapBytes', 'descriptors', '1 leased', 'places']) expect(kept.join('\n')).toContain(name)
  })
})
