import { useTexts } from '../i18n/i18n.tsx'
import { clock } from '../ui/duration.ts'
import { axisSteps, type CallTimeline, type Mark, type Span, type Turn } from './call-timeline.ts'

interface LanesProps {
  readonly timeline: CallTimeline
  readonly endMs: number
  readonly onSeek: (ms: number) => void
}

/** Times on the axis, but for one whose label would not fit before its end. */
function stepsWithRoom(endMs: number): readonly number[] {
  return axisSteps(endMs, 14).filter(ms => ms < 0.96 * endMs)
}

/** What the colours of the lanes mean. */
const KEYS = ['caller', 'agent', 'digits', 'interruption', 'action', 'silence'] as const

/** Turns of both sides, keys, interruptions, actions and silences below the waveform, on its time axis. */
export function Lanes({ timeline, endMs, onSeek }: LanesProps) {
  const { text, shortTime } = useTexts()
  const end = Math.max(1, endMs)
  const at = (ms: number) => `${(ms / end) * 100}%`
  const { turns, marks, spans } = timeline
  const shown = marks.filter(mark => mark.kind !== 'node')
  return (
    <div className="lanes">
      <div className="lane turns">
        {spans
          .filter(span => span.kind === 'silence')
          .map(span => (
            <div
              key={span.seq}
              className="silence"
              title={text('lane.silence', { time: shortTime(span.endMs - span.startMs) })}
              style={{ left: at(span.startMs), width: at(span.endMs - span.startMs) }}
            />
          ))}
        {turns.map(turn => (
          <TurnBlock key={turn.index} turn={turn} at={at} onSeek={onSeek} />
        ))}
      </div>
      <div className="lane events">
        {spans
          .filter(span => span.kind !== 'silence')
          .map(span => (
            <SpanBlock key={span.seq} span={span} at={at} onSeek={onSeek} />
          ))}
        {shown.map(mark => (
          <MarkDot key={mark.seq} mark={mark} at={at} onSeek={onSeek} />
        ))}
      </div>
      <div className="ruler" aria-hidden="true">
        {stepsWithRoom(end).map(ms => (
          <span key={ms} style={{ left: at(ms) }}>
            {clock(ms)}
          </span>
        ))}
      </div>
      <ul className="legend">
        {([...KEYS, ...(marks.some(({ kind }) => kind === 'error') ? (['error'] as const) : [])] as const).map(name => (
          <li key={name} className={`key-${name}`}>
            {text(`lane.${name}.name`)}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface Placed {
  readonly at: (ms: number) => string
  readonly onSeek: (ms: number) => void
}

function TurnBlock({ turn, at, onSeek }: Placed & { readonly turn: Turn }) {
  const { text } = useTexts()
  const who = text(turn.role === 'agent' ? 'lane.agent.name' : 'lane.caller.name')
  return (
    <button
      type="button"
      className={`turn ${turn.role}${turn.interrupted ? ' interrupted' : ''}`}
      aria-label={`${clock(turn.startMs)} ${who}: ${turn.text}`}
      title={`${clock(turn.startMs)} ${who}: ${turn.text}`}
      style={{ left: at(turn.startMs), width: at(turn.endMs - turn.startMs) }}
      onClick={() => onSeek(turn.startMs)}
    >
      <span aria-hidden="true">{turn.text}</span>
    </button>
  )
}

function SpanBlock({ span, at, onSeek }: Placed & { readonly span: Span }) {
  const { text, shortTime } = useTexts()
  const name = span.kind === 'hold' ? text('lane.hold') : span.label
  const label = `${clock(span.startMs)} ${name} (${shortTime(span.endMs - span.startMs)})${span.failed ? ` · ${text('lane.failed')}` : ''}`
  return (
    <button
      type="button"
      className={`span ${span.kind}${span.failed ? ' failed' : ''}`}
      aria-label={label}
      title={label}
      style={{ left: at(span.startMs), width: at(span.endMs - span.startMs) }}
      onClick={() => onSeek(span.startMs)}
    />
  )
}

function MarkDot({ mark, at, onSeek }: Placed & { readonly mark: Mark }) {
  const { text } = useTexts()
  const name = mark.kind === 'node' ? mark.label : text(`lane.${mark.kind}.name`)
  const label = `${clock(mark.atMs)} ${name} ${mark.kind === 'node' ? '' : mark.label}`.trim()
  return (
    <button
      type="button"
      className={`mark ${mark.kind}`}
      aria-label={label}
      title={label}
      style={{ left: at(mark.atMs) }}
      onClick={() => onSeek(mark.atMs)}
    >
      {mark.kind === 'digits' ? mark.label : mark.kind === 'interruption' ? '✕' : '!'}
    </button>
  )
}
