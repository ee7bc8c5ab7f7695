import type { EventFrom } from '@parley/client'
import type { TimelineItem } from '@parley/conversation'
import type { CallEvent } from '@parley/engine'
import { NARROWBAND, samplesToMs } from '@parley/kernel'
import type { LegEvent, MediaStatistics } from '@parley/leg'

/** A call's event as one line for people; null: nothing worth a line. */
export function describeEvent(event: CallEvent): string | null {
  switch (event.type) {
    case 'leg':
      return describeLegEvent(event.event)
    case 'timeline':
      return describeItem(event.item)
    case 'ending':
      return null
    case 'ended': {
      const { run, end } = event.report
      const outcome = run.outcome === null ? '' : `, ${run.outcome.kind} by ${run.outcome.ended_by}`
      const recording = end.media?.recording
      const heard = end.media === null ? '' : `, ${describeInboundDecision(end.media.statistics)}`
      return `run ${run.state}${outcome}${heard}${recording ? `, recording ${recording.path}` : ''}`
    }
  }
}

/** A line of the timeline; the transcript and what the agent does are worth one, turns are told at the end. */
export function describeItem(item: TimelineItem | EventFrom<'runs.events'>): string | null {
  switch (item.kind) {
    case 'utterance': {
      const { role, start_ms, end_ms, text, interrupted } = item
      const span = start_ms === null || end_ms === null ? '' : ` ${seconds(start_ms)}-${seconds(end_ms)}`
      return `${role === 'agent' ? 'agent ' : 'caller'}${span}: ${text}${interrupted ? ' [interrupted]' : ''}`
    }
    case 'node':
      return `-> ${item.node_id}${item.cause === 'start' ? '' : ` (${item.cause}${item.edge_id === null ? '' : ` ${item.edge_id}`})`}`
    case 'action':
      return `action ${item.action_id} ${item.phase}${item.duration_ms === null ? '' : ` after ${Math.round(item.duration_ms)} ms`}`
    case 'digits':
      return item.direction === 'in' ? `caller entered ${item.digits}` : `pressed ${item.digits}`
    case 'interruption':
      return item.resumed ? 'no interruption: the agent goes on' : 'the caller interrupted'
    case 'variables':
      return item.set.length === 0 ? null : `set ${item.set.join(', ')}`
    case 'error':
      return `error ${item.code}: ${item.message}`
    default:
      return null
  }
}

export function describeLegEvent(event: LegEvent): string | null {
  switch (event.type) {
    case 'ringing':
      return `ringing (${event.status}${event.earlyMedia ? ', early media' : ''})`
    case 'answered':
      return 'answered'
    case 'digit':
      return `digit ${event.digit} at ${seconds(samplesToMs(event.atSample, NARROWBAND))}`
    case 'digits-sent':
      return `pressed ${event.digits}`
    case 'held':
      return 'held by the far end'
    case 'resumed':
      return 'resumed by the far end'
    case 'reoffered':
      return `${event.purpose} done`
    case 'reoffer-refused':
      return `${event.purpose} refused (${event.status})`
    case 'ended':
      return `ended: ${event.end.cause} by ${event.end.by} (${event.end.sipStatus ?? 'nothing sent'})`
    default:
      return null
  }
}

/** What the line was like, for people: RFC 3550 figures. */
export function describeInboundDecision(statistics: MediaStatistics): string {
  const { packetsReceived, packetsLost, packetsLate, concealedSamples, jitterMs } = statistics
  const concealedMs = Math.round(samplesToMs(concealedSamples, NARROWBAND))
  return `${packetsReceived} packets heard (${packetsLost} lost, ${packetsLate} late, ${concealedMs} ms concealed, jitter ${jitterMs.toFixed(1)} ms)`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
