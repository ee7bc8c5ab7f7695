import { expect, test } from 'vitest'
import { processFigures, residentBytes } from './process-figures.ts'

const MIB = 1_048_576

test('memory that the processes of a database share counts once, not once for each connection', () => {
  const connection = { program: '/usr/bin/postgres', privateBytes: 5 * MIB, sharedBytes: 120 * MIB }
  const platform = { program: '/usr/bin/node', privateBytes: 400 * MIB, sharedBytes: 70 * MIB }
  const connections = Array.from({ length: 20 }, (_, i) => ({ ...connection, sharedBytes: (100 + i) * MIB }))
  expect(residentBytes([platform, ...connections])).toBe((400 + 70 + 20 * 5 + 119) * MIB)
})

test.skipIf(process.platform !== 'linux')(
  'memory and CPU time of a process are those that the process itself measures',
  () => {
    const figures = processFigures([process.pid])!
    const { rss } = process.memoryUsage()
    expect(Math.abs(figures.rssBytes - rss)).toBeLessThan(0.2 * rss)
    const { user, system } = process.cpuUsage()
    expect(figures.cpuMs).toBeGreaterThan(0)
    expect(figures.cpuMs).toBeLessThanOrEqual((user + system) / 1000 + 100)
  },
)

test('of processes that do not exist there are no figures', () => {
  expect(processFigures([2 ** 30])).toBeNull()
})
