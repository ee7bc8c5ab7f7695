import { useTexts } from '../i18n/i18n.tsx'
import { clock } from '../ui/duration.ts'
import { Empty, Section } from '../ui/parts.tsx'
import type { Turn } from './call-timeline.ts'
import { STAGES, stageBars } from './latency-stages.ts'

/** How long each answer took, by stage. */
export function LatencyCard({ turns }: { readonly turns: readonly Turn[] }) {
  const { text, shortTime } = useTexts()
  const bars = stageBars(turns)
  return (
    <Section title={text('latency.title')}>
      {bars.length === 0 ? (
        <Empty>{text('latency.empty')}</Empty>
      ) : (
        <>
          <ul className="stages">
            {STAGES.map(stage => (
              <li key={stage} className={stage}>
                {text(`latency.${stage}`)}
              </li>
            ))}
          </ul>
          <ol className="latency">
            {bars.map(({ turn, totalMs, parts }) => (
              <li key={turn.index}>
                <span className="turn-time">{clock(turn.startMs)}</span>
                <span
                  className="bar"
                  role="img"
                  aria-label={parts.map(({ stage, ms }) => `${text(`latency.${stage}`)} ${shortTime(ms)}`).join(', ')}
                >
                  {parts.map(({ stage, ms, share }) => (
                    <span
                      key={stage}
                      className={stage}
                      title={`${text(`latency.${stage}`)} ${shortTime(ms)}`}
                      style={{ width: `${share * 100}%` }}
                    />
                  ))}
                </span>
                <span className="total">{shortTime(totalMs)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </Section>
  )
}
