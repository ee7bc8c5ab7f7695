import { describe, expect, it } from 'vitest'
import { proveServiceFailures } from './service-failures.ts'
import { FAILURE_ROWS, type FailureRow } from './services/failure-rows.ts'

const options = { seed: 1, seconds: 60, count: 6, line: () => {}, progress: () => {} }

function row(service: FailureRow['service'], way: FailureRow['way'], lasts: FailureRow['lasts']): FailureRow {
  return FAILURE_ROWS.find(row => row.service === service && row.way === way && row.lasts === lasts)!
}

const SHORT = [
  row('deepgram/nova-3', 'break-off', 'once'),
  row('assemblyai/universal-streaming-english', 'refuse 401', 'for good'),
  row('elevenlabs/eleven_flash_v2_5', 'error', 'once'),
  row('cartesia/sonic-2', 'break-off', 'for good'),
  row('openai/gpt-4o-mini-tts', 'refuse 429', 'for good'),
]

describe('services that fail in the middle of a call', () => {
  it('end it honestly or not at all, and nothing is done twice', { timeout: 180_000 }, async () => {
    const lines: object[] = []
    const { ok } = await proveServiceFailures({ ...options, line: record => lines.push(record) }, { rows: SHORT })
    expect(ok, JSON.stringify(lines)).toBe(true)
  })

  it('what nobody asked for is noticed', { timeout: 180_000 }, async () => {
    const rows = SHORT.slice(1, 2)
    const { ok, summary } = await proveServiceFailures(options, { rows, planted: 'an effect of nobody' })
    expect(ok).toBe(false)
    expect(summary).toMatchObject({ rows: 1, hangs: 0, doubles: 1 })
  })
})
