import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CallMemory } from './call-memory.fixture.ts'
import { loadNativeAddon } from './native-packet-io.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''

it.skipIf(missing)(
  `a recorded call with SRTP takes at most 80 kB in its media thread, garbage not counted${note}`,
  () => {
    const program = join(import.meta.dirname, 'call-memory.fixture.ts')
    const printed = execFileSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' })
    const { objects, buffers, pages, rings, recordings, fewestPackets } = JSON.parse(printed) as CallMemory
    expect(fewestPackets, printed).toBeGreaterThan(140)
    expect(objects, printed).toBeLessThanOrEqual(24)
    expect(buffers, printed).toBeLessThanOrEqual(8)
    expect(rings, printed).toBeLessThanOrEqual(24)
    expect(objects + buffers + pages + rings + recordings, printed).toBeLessThanOrEqual(80)
  },
)
