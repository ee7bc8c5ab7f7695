import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Bus, Topic } from '../protocol.ts'
import { Gate } from './conformance-gate.ts'

/** A server that carries a bus, for tests. */
interface BusServer {
  readonly port: number
  /** A bus whose way to the server is `port` of 127.0.0.1. */
  bus(port: number, onProblem: (line: string) => void): Bus
  /** What somebody else writes to the channel. */
  write(text: string): Promise<void>
  stop(): Promise<void>
}

interface Process {
  readonly bus: Bus
  readonly gate: Gate
  readonly problems: readonly string[]
  /** Each change heard is an entry, each "missed" too. */
  hear(topic: Topic): Heard
}

interface Heard {
  readonly entries: string[]
  /** Resolves when the next entries are all of these. */
  until(...wanted: string[]): Promise<void>
  readonly end: () => void
}

/** What every implementation of the bus does. `skip`: why it cannot be tried on this machine. */
export function busConformance(name: string, start: () => Promise<BusServer>, skip: string | null = null): void {
  describe.skipIf(skip !== null)(`the bus on ${name}${skip === null ? '' : ` (${skip})`}`, () => {
    let server: BusServer
    const opened: Process[] = []
    beforeAll(async () => {
      server = await start()
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map(closeProcess))
    })
    afterAll(() => server?.stop())

    /** `connected` resolves with the first connection. */
    const begin = (gate: Gate) => {
      const problems: string[] = []
      const bus = server.bus(gate.port, line => problems.push(line))
      const begun = { bus, gate, problems, hear: (topic: Topic) => hearOn(bus, topic) }
      opened.push(begun)
      const connected = new Promise<void>(resolve => {
        bus.subscribe('keys', () => {}, resolve)
      })
      return { ...begun, connected }
    }
    const process = async (): Promise<Process> => {
      const begun = begin(await Gate.to(server.port))
      await begun.connected
      return begun
    }

    it('every process, the publisher included, receives each change once, however often it was published', async () => {
      const [here, there] = [await process(), await process()]
      const own = here.hear('keys')
      const others = there.hear('keys')
      for (let i = 0; i < 20; i++) here.bus.publish('keys', 'k1')
      here.bus.publish('keys', 'ключ ☎ "\0')
      await others.until('k1', 'ключ ☎ "\0')
      await own.until('k1', 'ключ ☎ "\0')
      there.bus.publish('keys', 'back')
      await own.until('back')
      await others.until('back')
    })

    it('a listener receives changes of its topic only, until it unsubscribes', async () => {
      const [here, there] = [await process(), await process()]
      const keys = there.hear('keys')
      const tenants = there.hear('tenants')
      here.bus.publish('keys', 'k1')
      here.bus.publish('tenants', 't1')
      await tenants.until('t1')
      await keys.until('k1')
      keys.end()
      here.bus.publish('keys', 'k2')
      here.bus.publish('tenants', 't2')
      await tenants.until('t2')
      expect(keys.entries).toEqual([])
    })

    it('thousands of changes published at once all arrive complete', async () => {
      const [here, there] = [await process(), await process()]
      const ids = Array.from({ length: 900 }, (_, i) => `${i}-${'x'.repeat(200)}`)
      const others = there.hear('publications')
      for (const id of ids) here.bus.publish('publications', id)
      await others.until(...ids)
    })

    it('publishing while the server is away never throws, reaches the own process at once, and other processes afterwards', async () => {
      const [here, there] = [await process(), await process()]
      const own = here.hear('telephony')
      const others = there.hear('telephony')
      await here.gate.shut()
      here.bus.publish('telephony', 'trunk')
      await own.until('trunk')
      await here.gate.open()
      await own.until('(missed)')
      await others.until('trunk')
      expect(here.problems).toEqual([expect.stringMatching('the bus has no connection'), 'the bus is connected again'])
    })

    it('listeners are notified after a reconnect that messages may have been missed', async () => {
      const [here, there] = [await process(), await process()]
      const others = there.hear('tenants')
      await there.gate.shut()
      here.bus.publish('tenants', 'unheard')
      await there.gate.open()
      await others.until('(missed)')
      here.bus.publish('tenants', 'heard')
      await others.until('heard')
    })

    it('the bus connects by itself when the server was away from the start', async () => {
      const gate = await Gate.to(server.port)
      await gate.shut()
      const here = begin(gate)
      // Of another topic: it is sent after the connection, perhaps only when the other process already listens.
      here.bus.publish('tenants', 'before')
      await gate.open()
      await here.connected
      const others = (await process()).hear('keys')
      here.bus.publish('keys', 'after')
      await others.until('after')
    })

    it('messages of other programs on the channel are ignored', async () => {
      const there = await process()
      const others = there.hear('keys')
      for (const text of ['', '{', 'null', '[]', '{"from":1}', '{"from":"x","told":[["keys",{}],["keys"],7]}'])
        await server.write(text)
      await server.write(JSON.stringify({ from: 'x', told: [['keys', 'k1']] }))
      await others.until('k1')
      expect(there.problems).toEqual([])
    })

    it('closing the bus first sends what was published before', async () => {
      const [here, there] = [await process(), await process()]
      const others = there.hear('keys')
      here.bus.publish('keys', 'last')
      await here.bus.close()
      await others.until('last')
      here.bus.publish('keys', 'too late')
      await here.bus.close()
    })
  })
}

async function closeProcess({ bus, gate }: Process): Promise<void> {
  await bus.close()
  await gate.shut()
}

function hearOn(bus: Bus, topic: Topic): Heard {
  const entries: string[] = []
  let look = () => {}
  const note = (entry: string) => {
    entries.push(entry)
    look()
  }
  const end = bus.subscribe(topic, note, () => note('(missed)'))
  const until = async (...wanted: string[]) => {
    await new Promise<void>(resolve => {
      look = () => {
        if (entries.length >= wanted.length) resolve()
      }
      look()
    })
    expect(entries.splice(0, wanted.length)).toEqual(wanted)
  }
  return { entries, until, end }
}
