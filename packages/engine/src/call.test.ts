import type { TimelineItem } from '@parley/conversation'
import { VirtualTime } from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent } from '@parley/leg'
import { expect, it } from 'vitest'
import { Call, type CallEvent, type CallOwner } from './call.ts'
import type { CallControl, CallHandler } from './call-handler.ts'
import { Ticker } from './ticker.ts'

const end: LegEnd = {
  direction: 'inbound',
  answered: true,
  by: 'remote',
  cause: 'bye',
  sipStatus: 200,
  reason: '',
  inviteSent: false,
  confirmed: true,
  detail: '',
  retryAfterS: undefined,
  media: null,
}

/** A leg whose events the test emits; it hangs up when its listener throws, as a real leg does. */
class ScriptedLeg {
  hungUp = 0
  #listener: (event: LegEvent) => void = () => {}

  onEvent(listener: (event: LegEvent) => void): () => void {
    this.#listener = listener
    return () => {}
  }

  emit(event: LegEvent): void {
    try {
      this.#listener(event)
    } catch {
      this.hangUp()
    }
  }

  hangUp(): void {
    this.hungUp++
  }

  transport = null
}

/** A handler that counts its calls and throws `fault` if the test sets it. */
class ScriptedHandler implements CallHandler {
  drains = 0
  stops = 0
  fault: Error | null = null
  readonly line: CallControl
  settles: Promise<void> = Promise.resolve()
  readonly result = { utterances: [], timeline: [], digits: '', latencies: [], preemptive: null }

  constructor(line: CallControl) {
    this.line = line
  }

  onLeg(): void {
    if (this.fault !== null) throw this.fault
  }

  drain(): void {
    this.drains++
  }

  stop(): void {
    this.stops++
  }

  settled = () => this.settles
}

const item: TimelineItem = { seq: 1, at: '', offset_ms: 0, kind: 'state', state: 'running', phone_state: 'active' }

function callWith(onEvent: (event: CallEvent) => void, owner: CallOwner = {}) {
  const time = new VirtualTime()
  const leg = new ScriptedLeg()
  let handler: ScriptedHandler | undefined
  const createHandler = (line: CallControl) => {
    handler = new ScriptedHandler(line)
    return handler
  }
  const ticker = new Ticker(time)
  const call = new Call({ leg: leg as unknown as CallLeg, time, ticker, createHandler, onEvent, owner })
  return { call, leg, time, handler: handler! }
}

const promisesSettled = () => new Promise(resolve => setImmediate(resolve))

it('a call whose listener throws at its last event still ends, and leaves no timer', async () => {
  const { call, leg, time, handler } = callWith(event => {
    if (event.type === 'ended' || (event.type === 'leg' && event.event.type === 'ended')) throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  leg.emit({ type: 'ended', end })
  expect((await call.report).run.outcome?.kind).toBe('caller_hung_up')
  const drained = handler.drains
  time.advance(100_000_000)
  expect(handler.drains).toBe(drained)
  expect(time.nextDeadline()).toBeUndefined()
})

it('a call whose listener throws ends as failed', async () => {
  const { call, leg } = callWith(event => {
    if (event.type === 'leg' && event.event.type === 'answered') throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  expect(leg.hungUp).toBe(1)
  leg.emit({ type: 'ended', end })
  expect((await call.report).run.outcome).toMatchObject({ kind: 'error', detail: 'internal' })
})

it('a listener that throws at a timeline item ends its call without an exception in the handler', async () => {
  let reported = 0
  const { handler, leg } = callWith(event => {
    if (event.type !== 'timeline') return
    reported++
    throw new Error('listener')
  })
  leg.emit({ type: 'answered' })
  handler.line.addTimelineItem(item)
  expect(reported).toBe(1)
  expect(leg.hungUp).toBeGreaterThan(0)
})

it('a call whose handler throws ends as failed', async () => {
  const { call, handler, leg } = callWith(() => {})
  handler.fault = new Error('bug')
  leg.emit({ type: 'answered' })
  expect(leg.hungUp).toBe(1)
  expect(handler.stops).toBeGreaterThan(0)
  leg.emit({ type: 'ended', end })
  expect((await call.report).run.outcome).toMatchObject({ kind: 'error', detail: 'internal' })
})

it('a handler reads received audio every 20 ms from the answer on', () => {
  const { handler, leg, time } = callWith(() => {})
  time.advance(1000)
  expect(handler.drains).toBe(0)
  leg.emit({ type: 'answered' })
  time.advance(1000)
  expect(handler.drains).toBe(50)
})

it('the report of a call waits for the actions of its handler, at most five seconds', async () => {
  const { call, handler, leg, time } = callWith(() => {})
  handler.settles = new Promise(() => {})
  leg.emit({ type: 'answered' })
  leg.emit({ type: 'ended', end })
  let over = false
  void call.report.then(() => {
    over = true
  })
  time.advance(4999)
  await promisesSettled()
  expect(over).toBe(false)
  time.advance(1)
  await promisesSettled()
  expect(over).toBe(true)
})

it('a listener gets the last event of the leg and then the report, each once', async () => {
  const types: string[] = []
  const { call, leg } = callWith(event => types.push(event.type === 'leg' ? event.event.type : event.type))
  leg.emit({ type: 'answered' })
  leg.emit({ type: 'ended', end })
  await call.report
  expect(types).toEqual(['answered', 'ending', 'ended', 'ended'])
})

it("logs get a call's events as its run shows them, and the run gets all of them", () => {
  const logged: CallEvent[] = []
  const stored: CallEvent[] = []
  const error = (message: string): TimelineItem => ({ ...item, kind: 'error', code: 'x', message })
  const { handler, leg } = callWith(event => logged.push(event), {
    onEvent: event => stored.push(event),
    shown: event => (event.type === 'leg' ? null : { type: 'timeline', item: error('[name]') }),
  })
  leg.emit({ type: 'answered' })
  handler.line.addTimelineItem(error('Ida'))
  expect(logged).toEqual([{ type: 'timeline', item: error('[name]') }])
  expect(stored).toEqual([
    { type: 'leg', event: { type: 'answered' } },
    { type: 'timeline', item: error('Ida') },
  ])
})
