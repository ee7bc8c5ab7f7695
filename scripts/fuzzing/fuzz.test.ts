import { describe, expect, it } from 'vitest'
import { fuzz } from './fuzzer.ts'
import { throwsOnOldVersion } from './planted.ts'
import { FUZZ_TARGETS } from './target.ts'

const FOREVER = Number.MAX_SAFE_INTEGER

describe('the fuzzing harness', () => {
  it('the fuzzer finds a parser that throws on one version number, and reports the input', async () => {
    const report = await fuzz({ target: 'planted-throw', seed: 1, seconds: 40, count: 200_000 })
    expect(report.findings.map(finding => finding.error)).toEqual(['RangeError: version 0.9 is out of bounds'])
    const input = Buffer.from(report.findings[0]!.inputBase64, 'base64')
    expect(() => throwsOnOldVersion(input)).toThrow('0.9')
  })

  it('the fuzzer ends an input that never returns, and reports it', async () => {
    const report = await fuzz({ target: 'planted-hang', seed: 1, seconds: 20, count: FOREVER, hangMs: 500 })
    expect(report.findings).toHaveLength(1)
    expect(report.findings[0]!.error).toContain('more than 500 ms')
    expect(Buffer.from(report.findings[0]!.inputBase64, 'base64')).toContain(0x09)
  })
})

describe('random bytes', () => {
  it.each(FUZZ_TARGETS)('%s: nothing throws, hangs or breaks its promises', async target => {
    const report = await fuzz({ target, seed: 20_260_101, seconds: 20, count: 1500 })
    expect(report.findings).toEqual([])
    expect(report.runs).toBeGreaterThanOrEqual(1000)
    expect(report.covered, 'the target ran under coverage').toBeGreaterThan(20)
  })
})
