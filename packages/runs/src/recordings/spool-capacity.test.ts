import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { type DiskSpace, SpoolCapacity } from './spool-capacity.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

function room(disk: DiskSpace | null, maxBytes?: number) {
  const time = new VirtualTime()
  const spool = { used: 0 }
  const problems: string[] = []
  const made = new SpoolCapacity({
    maxBytes,
    time,
    used: () => spool.used,
    disk: async () => disk,
    onProblem: (what, error) => problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
  })
  return { room: made, spool, time, problems }
}

const refused = { code: 'recording_unavailable', retryable: true }

describe('the capacity of the recording spool', () => {
  it('the spool refuses recordings at its limit, and accepts them again after uploads', async () => {
    const { room: of, spool } = room(null, 100)
    spool.used = 99
    await of.check()
    spool.used = 100
    await expect(of.check()).rejects.toMatchObject(refused)
    spool.used = 99
    await of.check()
    expect(of.refused).toEqual({ spool_full: 1, disk_full: 0, unwritable: 0 })
  })

  it('the spool holds 8 GiB by default', async () => {
    const { room: of, spool } = room(null)
    spool.used = 8 * GIB - 1
    await of.check()
    spool.used++
    await expect(of.check()).rejects.toMatchObject(refused)
    expect(of.maxBytes).toBe(8 * GIB)
  })

  it.each([
    ['of a large disk 1 GiB is kept', { free: GIB - 1, total: 10_000 * GIB }, { free: GIB, total: 10_000 * GIB }],
    ['of a small one a twentieth', { free: 511 * MIB, total: 10 * GIB }, { free: 512 * MIB, total: 10 * GIB }],
  ])('the spool refuses recordings on a nearly full disk, although it is empty: %s', async (_, full, enough) => {
    await room(enough).room.check()
    const { room: of } = room(full)
    await expect(of.check()).rejects.toMatchObject(refused)
    expect(of.refused).toEqual({ spool_full: 0, disk_full: 1, unwritable: 0 })
  })

  it('the spool logs refused recordings at most every 10 s, with their number', async () => {
    const { room: of, spool, time, problems } = room(null, 50 * MIB)
    spool.used = 60 * MIB
    const refuse = () => expect(of.check()).rejects.toMatchObject(refused)
    for (let i = 0; i < 20; i++) {
      await refuse()
      time.advance(1000)
    }
    await refuse()
    expect(of.refused.spool_full).toBe(21)
    expect(problems).toEqual([
      'no room to record, 1 not begun: 60 MiB wait to be stored, of 50 MiB that may',
      'no room to record, 10 not begun: 60 MiB wait to be stored, of 50 MiB that may',
      'no room to record, 10 not begun: 60 MiB wait to be stored, of 50 MiB that may',
    ])
  })
})
