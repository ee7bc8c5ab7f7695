import { describe, expect, it } from 'vitest'
import { type PlantedRow, proveServiceFailures } from './service-failures.ts'
import { FAILURE_ROWS, type FailureRow } from './services/failure-rows.ts'
import type { PlantedFault } from './services/planted-faults.ts'

const options = { seed: 1, seconds: 60, count: 1, line: () => {}, progress: () => {} }

function row(service: FailureRow['service'], way: FailureRow['way'], lasts: FailureRow['lasts']): FailureRow {
  return FAILURE_ROWS.find(row => row.service === service && row.way === way && row.lasts === lasts)!
}

function planted(row: FailureRow, ...planted: readonly PlantedFault[]): PlantedRow {
  return { ...row, planted }
}

/** Each service once, with each kind of failure once. */
const SHORT = [
  row('deepgram/nova-3', 'break-off', 'once'),
  row('deepgram/flux-general-en', 'error', 'once'),
  row('assemblyai/universal-streaming-english', 'refuse 401', 'for good'),
  row('elevenlabs/eleven_flash_v2_5', 'mute', 'once'),
  row('cartesia/sonic-2', 'garble', 'for good'),
  row('deepgram/aura-2', 'stall', 'for good'),
  row('openai/gpt-4o-mini-tts', 'refuse 429', 'for good'),
  row('anthropic/claude-haiku-4-5', 'error', 'for good'),
]

const WITH_PLANTED_FAULTS: readonly PlantedRow[] = [
  planted(row('openai/gpt-4.1-mini', 'slow', 'once'), 'a deaf agent'),
  planted(
    row('openai/gpt-4.1-mini', 'refuse 429 for 1 s', 'once'),
    'an effect without a run',
    'sound after an interruption',
    'a missing turn',
  ),
]

describe('the proof "service-failures"', () => {
  it('a call with a failing service continues or ends with the true reason, and the proof reports planted faults', async () => {
    const rows = [...SHORT, ...WITH_PLANTED_FAULTS]
    const lines: object[] = []
    const recording = { ...options, line: (record: object) => lines.push(record) }
    const { ok, summary } = await proveServiceFailures(recording, { rows })
    expect(ok).toBe(false)
    expect(summary, JSON.stringify(lines)).toMatchObject({
      rows: 10,
      hangs: 1,
      doubles: 1,
      stale: 1,
      lost: 1,
      // The agent cannot know that it hears nothing, so its timeline has no error.
      unrecorded: 1,
    })
    expect(lines).toContainEqual(
      expect.objectContaining({
        planted: WITH_PLANTED_FAULTS[0]!.planted,
        hang: expect.stringContaining('did not hear'),
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({ planted: WITH_PLANTED_FAULTS[1]!.planted, hang: null, doubles: 1, lost: 1 }),
    )
  })
})
