import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Connections } from './connections.ts'
import { Lifetime } from './lifetime.ts'
import { never } from './outbound-http.fixture.ts'

const ORIGIN = 'http://shop.test'

/** All turns of the origin taken. */
async function crowded(): Promise<{ connections: Connections; life: () => Lifetime }> {
  const time = new VirtualTime()
  const connections = new Connections(time)
  const life = () => new Lifetime(time, 1000, never)
  for (let n = 0; n < 64; n++) expect(await connections.turn(ORIGIN, life())).toBe(true)
  return { connections, life }
}

it('turns are had in the order in which they were asked for', async () => {
  const { connections, life } = await crowded()
  const had: number[] = []
  const waiting = [0, 1, 2].map(n => connections.turn(ORIGIN, life()).then(() => had.push(n)))
  for (const turn of waiting) {
    connections.endTurn(ORIGIN)
    await turn
  }
  expect(had).toEqual([0, 1, 2])
})

it('other origins do not wait', async () => {
  const { connections, life } = await crowded()
  expect(await connections.turn('http://other.test', life())).toBe(true)
})

it('a turn that comes in the moment in which its asker gives up goes to the next', async () => {
  const { connections, life } = await crowded()
  const givesUp = life()
  const first = connections.turn(ORIGIN, givesUp)
  const second = connections.turn(ORIGIN, life())
  connections.endTurn(ORIGIN)
  givesUp.end('aborted')
  expect([await first, await second]).toEqual([false, true])
})

it('who gave up while waiting takes no turn', async () => {
  const { connections, life } = await crowded()
  const givesUp = life()
  const first = connections.turn(ORIGIN, givesUp)
  const second = connections.turn(ORIGIN, life())
  givesUp.end('aborted')
  expect(await first).toBe(false)
  connections.endTurn(ORIGIN)
  expect(await second).toBe(true)
})
