import { Socket } from 'node:net'
import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { ReadScheduler } from './read-scheduler.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Three connections, each of which causes `costMs` of work per read. */
function connections(costMs: number) {
  const time = new VirtualTime()
  const turns = new ReadScheduler(time)
  const sockets = [new Socket(), new Socket(), new Socket()]
  const bring = () => {
    for (const socket of sockets)
      if (!socket.isPaused() && !socket.destroyed) turns.run(socket, () => time.advance(costMs))
  }
  return { sockets, bring, paused: () => sockets.map(socket => socket.isPaused()) }
}

it('connections with more work than fits into a turn are queued and resumed one at a time', async () => {
  const { bring, paused } = connections(50)
  bring()
  expect(paused()).toEqual([true, true, true])
  await turn()
  expect(paused()).toEqual([false, true, true])
  bring()
  await turn()
  expect(paused()).toEqual([true, false, true])
  bring()
  await turn()
  await turn()
  await turn()
  expect(paused()).toEqual([false, false, false])
})

it('little work pauses no connection, and every turn starts with the full time', async () => {
  const { bring, paused } = connections(2)
  for (let i = 0; i < 10; i++) {
    bring()
    await turn()
  }
  expect(paused()).toEqual([false, false, false])
})

it('a connection that closes while queued does not block the others', async () => {
  const { sockets, bring, paused } = connections(50)
  bring()
  sockets[0]!.destroy()
  await turn()
  expect(paused()[1]).toBe(false)
})
