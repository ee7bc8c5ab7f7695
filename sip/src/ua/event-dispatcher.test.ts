import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { EventDispatcher } from './event-dispatcher.ts'

/** A source whose listener does `react` with each event. */
function source(pump: EventDispatcher, react: (event: string) => void) {
  const waiting: string[] = []
  const self = {
    tellOne: () => {
      const event = waiting.shift()
      if (event === undefined) return false
      react(event)
      return true
    },
    add: (event: string) => {
      waiting.push(event)
      pump.mark(self)
    },
  }
  return self
}

describe('EventDispatcher', () => {
  it('events are delivered after the input has been handled', () => {
    const lines: string[] = []
    const pump = new EventDispatcher(new VirtualTime(), () => {})
    const events = source(pump, event => lines.push(event))
    pump.run(() => {
      events.add('one')
      lines.push('worked off')
      events.add('two')
    })
    expect(lines).toEqual(['worked off', 'one', 'two'])
  })

  it('events of a command are delivered after the command returned', () => {
    const lines: string[] = []
    const time = new VirtualTime()
    const events = source(new EventDispatcher(time, () => {}), event => lines.push(event))
    events.add('one')
    lines.push('returned')
    time.advance(0)
    expect(lines).toEqual(['returned', 'one'])
  })

  it('an input that arrives during a listener is handled after it', () => {
    const lines: string[] = []
    const pump = new EventDispatcher(new VirtualTime(), () => {})
    const events = source(pump, event => {
      lines.push(`${event} begins`)
      if (event === 'one') pump.run(() => events.add('two'))
      lines.push(`${event} ends`)
    })
    pump.run(() => events.add('one'))
    expect(lines).toEqual(['one begins', 'one ends', 'two begins', 'two ends'])
  })

  it('a listener that throws does not lose its next event or events of other sources', () => {
    const lines: string[] = []
    const errors: unknown[] = []
    const pump = new EventDispatcher(new VirtualTime(), error => errors.push(error))
    const bad = source(pump, event => {
      lines.push(event)
      throw new Error(event)
    })
    const good = source(pump, event => lines.push(event))
    pump.run(() => {
      bad.add('bad 1')
      bad.add('bad 2')
      good.add('good')
      throw new Error('work')
    })
    expect(lines.sort()).toEqual(['bad 1', 'bad 2', 'good'])
    expect(errors.map(error => (error as Error).message).sort()).toEqual(['bad 1', 'bad 2', 'work'])
  })
})
