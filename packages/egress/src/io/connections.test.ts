import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Connections } from './connections.ts'
import { Lifetime } from './lifetime.ts'
import { never } from './outbound-http.fixture.ts'

const ORIGIN = 'http://shop.test'

/** Takes all places of the origin. */
async function crowded(): Promise<{ connections: Connections; life: () => Lifetime }> {
  const time = new VirtualTime()
  const connections = new Connections(time)
  const life = () => new Lifetime(time, 1000, never)
  for (let n = 0; n < 64; n++) expect(await connections.acquire(ORIGIN, life())).toBe(true)
  return { connections, life }
}

it('waiting requests to one origin are served in order of arrival', async () => {
  const { connections, life } = await crowded()
  const had: number[] = []
  const waiting = [0, 1, 2].map(n => connections.acquire(ORIGIN, life()).then(() => had.push(n)))
  for (const turn of waiting) {
    connections.release(ORIGIN)
    await turn
  }
  expect(had).toEqual([0, 1, 2])
})

it('a busy origin does not delay requests to other origins', async () => {
  const { connections, life } = await crowded()
  expect(await connections.acquire('http://other.test', life())).toBe(true)
})

it('a permit that is granted to a request at the moment of its abort goes to the next request', async () => {
  const { connections, life } = await crowded()
  const givesUp = life()
  const first = connections.acquire(ORIGIN, givesUp)
  const second = connections.acquire(ORIGIN, life())
  connections.release(ORIGIN)
  givesUp.end('aborted')
  expect([await first, await second]).toEqual([false, true])
})

it('a request that is aborted while it waits does not count towards the limit of its origin', async () => {
  const { connections, life } = await crowded()
  const givesUp = life()
  const first = connections.acquire(ORIGIN, givesUp)
  const second = connections.acquire(ORIGIN, life())
  givesUp.end('aborted')
  expect(await first).toBe(false)
  connections.release(ORIGIN)
  expect(await second).toBe(true)
})
