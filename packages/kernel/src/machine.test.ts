import { describe, expect, it } from 'vitest'
import { type Machine, MachineDriver } from './machine.ts'
import { VirtualTime } from './virtual-time.ts'

/** Repeats each word after `delay`; the word "twice" also at once. */
class Echo implements Machine<string, string> {
  readonly #outputs: string[] = []
  #waiting: { word: string; at: number }[] = []
  readonly #delay: number

  constructor(delay: number) {
    this.#delay = delay
    this.#outputs.push('hello')
  }

  handle(now: number, word: string): void {
    if (word === 'twice') this.#outputs.push('at once')
    this.#waiting.push({ word, at: now + this.#delay })
  }

  advance(now: number): void {
    for (const { word, at } of this.#waiting) if (at <= now) this.#outputs.push(`${word}@${now}`)
    this.#waiting = this.#waiting.filter(({ at }) => at > now)
  }

  poll(): string | undefined {
    return this.#outputs.shift()
  }

  deadline(): number | undefined {
    return this.#waiting[0]?.at
  }
}

function driven(deliver: (output: string) => void) {
  const time = new VirtualTime()
  return { time, driver: new MachineDriver(new Echo(50), time, deliver) }
}

describe('a machine driver', () => {
  it('a machine driver drains outputs at the start, after every input and at deadlines, with one timer', () => {
    const heard: string[] = []
    const { time, driver } = driven(output => heard.push(output))
    expect(heard).toEqual(['hello'])
    driver.handle('twice')
    expect(heard).toEqual(['hello', 'at once'])
    time.advance(20)
    driver.handle('b')
    time.advance(29)
    expect(heard).toHaveLength(2)
    time.advance(21)
    expect(heard.slice(2)).toEqual(['twice@50', 'b@70'])
    expect(time.nextDeadline()).toBeUndefined()
  })

  it('a machine driver delivers outputs in order when an output causes an input', () => {
    const heard: string[] = []
    let inside = false
    const { driver } = driven(output => {
      expect(inside, 'one output at a time').toBe(false)
      inside = true
      heard.push(output)
      if (heard.length === 2) driver.handle('twice')
      inside = false
    })
    driver.handle('twice')
    expect(heard).toEqual(['hello', 'at once', 'at once'])
  })

  it('after stop has no timer and ignores inputs', () => {
    const heard: string[] = []
    const { time, driver } = driven(output => heard.push(output))
    driver.handle('a')
    driver.stop()
    driver.handle('twice')
    expect(time.nextDeadline()).toBeUndefined()
    time.advance(1000)
    expect(heard).toEqual(['hello'])
  })

  it('a machine driver keeps the deadlines when the receiver of an output throws', () => {
    const heard: string[] = []
    const { time, driver } = driven(output => {
      if (output === 'at once') throw new Error('listener bug')
      heard.push(output)
    })
    expect(() => driver.handle('twice')).toThrow('listener bug')
    time.advance(50)
    expect(heard).toEqual(['hello', 'twice@50'])
  })
})
