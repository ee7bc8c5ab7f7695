import type { Samples } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'

/**
 * The leg of a call as an agent has it that continues the call: its clock begins at `origin`, with the recording of its run. The far
 * end has spoken already, so that it counts as inbound in both directions.
 */
export function continuedLeg(leg: CallLeg, origin: Samples): CallLeg {
  const own: Partial<CallLeg> & ThisType<CallLeg> = {
    heardPosition: () => leg.heardPosition() - origin,
    nextVoiceEdge: () => {
      const edge = leg.nextVoiceEdge()
      return edge === null ? null : { ...edge, atSample: edge.atSample - origin }
    },
    onEvent: listener => leg.onEvent(event => listener(continuedEvent(event, origin))),
  }
  return new Proxy(leg, {
    get: (target, name) => {
      if (name === 'direction') return 'inbound'
      if (Object.hasOwn(own, name)) return own[name as keyof CallLeg]
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** An event of the leg on a clock that begins at `origin`. */
export function continuedEvent(event: LegEvent, origin: Samples): LegEvent {
  return 'atSample' in event ? { ...event, atSample: event.atSample - origin } : event
}

/** The events with which a handler that continues a call begins. */
export function firstEvents(atSample: number): readonly LegEvent[] {
  return [{ type: 'answered' }, { type: 'first-packet', atSample }]
}
