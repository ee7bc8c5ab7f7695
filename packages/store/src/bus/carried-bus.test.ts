import { SeededRandom, VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { CarriedBus } from './carried-bus.ts'
import type { Carrier, CarrierConnection, CarrierEvents } from './carrier.ts'
import { MAX_IDS } from './changes.ts'

/** A server in memory that can go away, refuse, or take messages and never answer. */
class MemoryCarrier implements Carrier {
  readonly connections = new Set<{ events: CarrierEvents }>()
  readonly sent: string[] = []
  opened = 0
  away = false
  hangs = false

  async open(events: CarrierEvents): Promise<CarrierConnection> {
    this.opened++
    if (this.away) throw new Error('refused')
    const own = { events }
    this.connections.add(own)
    const answer = async () => {
      if (this.hangs) throw new Error('no answer')
      if (!this.connections.has(own)) throw new Error('gone')
    }
    return {
      check: answer,
      send: async text => {
        await answer()
        this.sent.push(text)
        for (const { events } of [...this.connections]) events.message(text)
      },
      close: async () => void this.connections.delete(own),
    }
  }

  /** For the first `count` that connected; nobody gets a new connection. */
  goAway(count = this.connections.size): void {
    this.away = true
    for (const own of [...this.connections].slice(0, count)) {
      this.connections.delete(own)
      own.events.lost(new Error('cut'))
    }
  }
}

/** Time passes in steps, with room for promises between them. */
async function pass(time: VirtualTime, ms: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += 5) {
    time.advance(Math.min(5, ms - gone))
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
}

function connectedBus(carrier = new MemoryCarrier()) {
  const time = new VirtualTime()
  const problems: string[] = []
  let seed = 0
  const bus = () =>
    new CarriedBus(carrier, { time, random: new SeededRandom(++seed), onProblem: line => problems.push(line) })
  return { time, carrier, problems, bus, pass: (ms: number) => pass(time, ms) }
}

function heardOn(bus: CarriedBus): string[] {
  const heard: string[] = []
  bus.subscribe(
    'keys',
    id => heard.push(id),
    () => heard.push('(missed)'),
  )
  return heard
}

describe('the bus', () => {
  it('the bus delivers a change once when it is published many times within a few ms', async () => {
    const { bus, carrier, pass } = connectedBus()
    const [here, there] = [bus(), bus()]
    await pass(10)
    const [own, others] = [heardOn(here), heardOn(there)]
    for (let i = 0; i < 50; i++) here.publish('keys', 'k1')
    here.publish('keys', 'k2')
    expect(own).toEqual([])
    await pass(10)
    expect(own).toEqual(['k1', 'k2'])
    expect(others).toEqual(['k1', 'k2'])
    expect(carrier.sent).toHaveLength(1)
  })

  it('the bus delivers to its own process while the server is away, and to other processes when the server is back', async () => {
    const { bus, carrier, pass } = connectedBus()
    const [here, there] = [bus(), bus()]
    await pass(10)
    const [own, others] = [heardOn(here), heardOn(there)]
    carrier.goAway(1)
    here.publish('keys', 'k1')
    await pass(10)
    expect(own).toEqual(['k1'])
    expect(others).toEqual([])
    carrier.away = false
    await pass(10_000)
    expect(own).toEqual(['k1', '(missed)'])
    expect(others).toEqual(['k1'])
  })

  it('the bus reports missed messages to other processes when more waited for the server than it holds', async () => {
    const { bus, carrier, pass } = connectedBus()
    const [here, there] = [bus(), bus()]
    await pass(10)
    carrier.goAway()
    for (let i = 0; i < 3 * MAX_IDS; i++) {
      here.publish('keys', `k${i}`)
      if (i % 500 === 0) await pass(10)
    }
    carrier.away = false
    await pass(10_000)
    const others = heardOn(there)
    here.publish('keys', 'after')
    await pass(10)
    expect(others).toEqual(['after'])
    expect(carrier.sent).toHaveLength(2)
    expect(JSON.parse(carrier.sent[0]!).told).toEqual([['keys', null]])
  })

  it('the bus reconnects to an absent server with growing pauses and never gives up', async () => {
    const { bus, carrier, pass, problems } = connectedBus()
    carrier.away = true
    const here = bus()
    const heard = heardOn(here)
    await pass(60_000)
    expect(carrier.opened).toBeGreaterThan(10)
    expect(carrier.opened).toBeLessThan(35)
    expect(problems).toEqual(['the bus has no connection: refused'])
    carrier.away = false
    await pass(6000)
    expect(heard).toEqual(['(missed)'])
    expect(problems).toEqual(['the bus has no connection: refused', 'the bus is connected again'])
  })

  it('the bus detects a server that stopped answering without closing the connection', async () => {
    const { bus, carrier, pass } = connectedBus()
    const here = bus()
    await pass(10)
    const heard = heardOn(here)
    carrier.hangs = true
    await pass(15_100)
    carrier.hangs = false
    await pass(6000)
    expect(heard).toEqual(['(missed)'])
  })

  it('the bus sends again what was in flight when the connection broke', async () => {
    const { bus, carrier, pass } = connectedBus()
    const [here, there] = [bus(), bus()]
    await pass(10)
    const others = heardOn(there)
    carrier.hangs = true
    here.publish('keys', 'k1')
    await pass(10)
    carrier.hangs = false
    await pass(6000)
    expect(others).toEqual(['k1'])
  })

  it('the bus calls the remaining listeners when one throws, and logs the error', async () => {
    const { bus, pass, problems } = connectedBus()
    const here = bus()
    here.subscribe('keys', () => {
      throw new Error('my own fault')
    })
    here.subscribe('keys', async () => {
      throw new Error('later fault')
    })
    const heard = heardOn(here)
    await pass(10)
    here.publish('keys', 'k1')
    await pass(10)
    expect(heard).toContain('k1')
    expect(problems.join()).toMatch(/my own fault.*later fault/)
  })

  it('the bus never calls a listener after it unsubscribed, even during a delivery', async () => {
    const { bus, pass } = connectedBus()
    const here = bus()
    await pass(10)
    const heard: string[] = []
    const ends: (() => void)[] = []
    here.subscribe('keys', id => {
      heard.push(`first ${id}`)
      for (const end of ends) end()
    })
    ends.push(here.subscribe('keys', id => heard.push(`second ${id}`)))
    here.publish('keys', 'k1')
    await pass(10)
    expect(heard).toEqual(['first k1'])
  })

  it('closing the bus first sends what was published before, even while it still connects', async () => {
    const { bus, carrier, pass } = connectedBus()
    const there = bus()
    await pass(10)
    const others = heardOn(there)
    const here = bus()
    here.publish('keys', 'last')
    const closed = here.close()
    await pass(20)
    await closed
    expect(others).toEqual(['last'])
    expect(carrier.connections.size).toBe(1)
    here.publish('keys', 'too late')
    await pass(100)
    expect(others).toEqual(['last'])
  })

  it('the bus closes within 2 s when the server stays away', async () => {
    const { bus, carrier, pass } = connectedBus()
    carrier.away = true
    const here = bus()
    here.publish('keys', 'k1')
    let closed = false
    void here.close().then(() => {
      closed = true
    })
    await pass(1900)
    expect(closed).toBe(false)
    await pass(200)
    expect(closed).toBe(true)
    const tried = carrier.opened
    await pass(60_000)
    expect(carrier.opened).toBe(tried)
  })
})
