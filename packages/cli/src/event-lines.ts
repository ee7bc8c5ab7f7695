import type { EventFrom } from '@parley/client'
import type { TimelineItem } from '@parley/conversation'
import type { CallEvent } from '@parley/engine'
import { type AudioFormat, samplesToMs } from '@parley/kernel'
import type { LegEvent, MediaStatistics } from '@parley/leg'

/** An event of a call as one line of text; null: the event is not shown. `format`: the audio format of the call. */
export function describeEvent(event: CallEvent, format: AudioFormat): string | null {
  switch (event.type) {
    case 'leg':
      return describeLegEvent(event.event, format)
    case 'timeline':
      return describeItem(event.item)
    case 'handed-over':
      return `handed over to run ${event.handOver.successor}`
    case 'ending':
      return null
    case 'ended': {
      const { run, end } = event.report
      const outcome = run.outcome === null ? '' : `, ${run.outcome.kind} by ${run.outcome.ended_by}`
      const recording = end.media?.recording
      const received = end.media === null ? '' : `, ${describeStatistics(end.media.statistics, format)}`
      return `run ${run.state}${outcome}${received}${recording ? `, recording ${recording.path}` : ''}`
    }
  }
}

/** An item of a run's timeline as one line of text; null: the item is not shown. */
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
      return item.direction === 'in' ? `caller entered ${item.digits}` : `agent sent digits ${item.digits}`
    case 'interruption':
      return item.resumed ? 'not an interruption: the agent continues' : 'the caller interrupted the agent'
    case 'variables':
      return item.set.length === 0 ? null : `set ${item.set.join(', ')}`
    case 'error':
      return `error ${item.code}: ${item.message}`
    default:
      return null
  }
}

/** An event of a call leg as one line of text; null: the event is not shown. `format`: the audio format of the leg. */
export function describeLegEvent(event: LegEvent, format: AudioFormat): string | null {
  switch (event.type) {
    case 'ringing':
      return `ringing (${event.status}${event.earlyMedia ? ', early media' : ''})`
    case 'answered':
      return 'answered'
    case 'digit':
      return `digit ${event.digit} at ${seconds(samplesToMs(event.atSample, format))}`
    case 'digits-sent':
      return `sent digits ${event.digits}`
    case 'held':
      return 'held by the far end'
    case 'resumed':
      return 'resumed by the far end'
    case 'reoffered':
      return `${event.purpose} done`
    case 'reoffer-refused':
      return `${event.purpose} refused (${event.status})`
    case 'ended':
      return `ended: ${event.end.cause} by ${event.end.by} (${event.end.sipStatus ?? 'no SIP response'})`
    default:
      return null
  }
}

/** Received packets, with loss and jitter as in RFC 3550. */
function describeStatistics(statistics: MediaStatistics, format: AudioFormat): string {
  const { packetsReceived, packetsLost, packetsLate, concealedSamples, jitterMs } = statistics
  const concealedMs = Math.round(samplesToMs(concealedSamples, format))
  return `${packetsReceived} packets received (${packetsLost} lost, ${packetsLate} late, ${concealedMs} ms concealed, jitter ${jitterMs.toFixed(1)} ms)`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
